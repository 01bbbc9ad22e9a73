"""Assignment: pairs of items from two lists with the largest possible total worth.

``assigned([[1, 5], [2, 9]])`` is ``[(0, 0), (1, 1)]``: these pairs are worth 10 in total, more than any other pairing.
"""

from __future__ import annotations

Pairs = list[tuple[int, int]]

_FREE = -1


def assigned(worths: list[list[int]]) -> Pairs:
    """Return the pairs (row, column) with the largest sum of worths; each row and column is in at most one pair.

    ``worths`` is a full matrix (rows, columns) of nonnegative values. The algorithm is the Hungarian method with
    shortest augmenting paths (Kuhn 1955; Jonker and Volgenant 1987). Its running time is proportional to ``min(rows,
    columns) ** 2 * max(rows, columns)``.
    """
    if len(worths) > len(worths[0]):
        return [(row, column) for column, row in assigned([list(column) for column in zip(*worths, strict=True)])]
    rows, columns = len(worths), len(worths[0])
    row_prices, column_prices = [0] * rows, [0] * (columns + 1)
    # The last column is a placeholder for the row that is being placed.
    row_of = [_FREE] * (columns + 1)
    for new in range(rows):
        row_of[columns], column = new, columns
        slack: dict[int, tuple[int, int]] = {}  # unreached column -> (cost of reaching it, previous column)
        reached = [columns]
        before: dict[int, int] = {}
        unreached = set(range(columns))
        while (row := row_of[column]) != _FREE:
            for other in unreached:
                cost = -worths[row][other] - row_prices[row] - column_prices[other]
                if other not in slack or cost < slack[other][0]:
                    slack[other] = cost, column
            nearest = min(unreached, key=lambda other: slack[other][0])
            step, origin = slack[nearest]
            for reached_column in reached:
                row_prices[row_of[reached_column]] += step
                column_prices[reached_column] -= step
            for other in unreached:
                slack[other] = slack[other][0] - step, slack[other][1]
            before[nearest] = origin
            reached.append(nearest)
            unreached.discard(nearest)
            column = nearest
        while column != columns:
            row_of[column] = row_of[before[column]]
            column = before[column]
    return [(row, column) for column, row in enumerate(row_of[:columns]) if row != _FREE]
