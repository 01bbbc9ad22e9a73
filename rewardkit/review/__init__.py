"""The review of changed rewards: which ones a change touches, what it does to their scores, and what to say of it.

``rewardkit review --base main`` compares the rewards of the working tree with those of another revision; a pre-commit
hook and the GitHub Action in ``action.yml`` run the same command.
"""
