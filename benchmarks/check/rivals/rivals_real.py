"""What a person says of the alerts on faulty cases: whether one of them shows a real defect.

Mostly that is the planted fault; in doubt we decided for the tool. What falsepass and rewardlint say of nearly every
reward ("not 42" is read as 42) counts only where it shows the fault. Where falsepass calls its result inconclusive
because an empty completion earns full marks by mistake, that counts. The verdicts are on the run of RESULTS.md:
read again when a tool or our laws have changed.
"""

from __future__ import annotations

Case = tuple[str, str]
"""The package, without ``tests.faults.``, and the name."""

_REAL: dict[str, dict[str, str]] = {
    "rewardlint": {
        "tests.check.bench": (
            "gold_is_substring answer_inside_gold any_letter_counts rows_left_out group_of_equals_divides "
            "any_number_counts trailing_zeros_stripped missing_absolute_value cache_forgets_the_gold "
            "superset_is_perfect forgotten_return first_of_a_set"
        ),
        "tests.faults.a": "fractions species",
        "tests.faults.b": (
            "ticket_category aime_answer required_information gsm8k_last_number boxed_integer claim_verdict "
            "all_solutions"
        ),
        "tests.faults.c": "chart_relaxed_accuracy gsm_hash_answer summary_rouge1",
        "tests.faults.d": "ticket_triage",
        "tests.faults.e": "quasi_exact_match integer_reward office_reward species_reward final_page_reward",
    },
    "rewardprobe": {
        "tests.check.bench": (
            "answer_tag_in_thinking any_letter_counts echo_is_on_topic rows_left_out catastrophic_sentences "
            "list_in_place_of_object empty_is_concise no_words_divide any_number_counts gold_zero_divides "
            "random_tie_break first_of_a_set forgotten_return no_first_line"
        ),
        "tests.faults.a": "fractions species intents",
        "tests.faults.b": "pick_option boxed_integer instruction_fraction copy_rubric sentence_mix recall_at_three",
        "tests.faults.c": "ticket_queue_last_mention listing_rubric translation_sentence_bleu summary_rouge1",
        "tests.faults.d": "ticket_triage keyword_list_f1 multiple_choice_letter",
        "tests.faults.e": (
            "option_reward office_reward translation_reward instruction_reward product_answer_reward "
            "honest_report_reward sql_reward"
        ),
    },
    "falsepass": {
        "tests.check.bench": (
            "answer_tag_in_thinking gold_is_substring answer_inside_gold answer_starts_with_gold "
            "any_letter_counts echo_is_on_topic rows_left_out first_line_alone form_without_end "
            "catastrophic_sentences decode_error_is_not_all nan_survives_the_clamp any_tool_call_counts "
            "padding_is_detail empty_is_concise no_words_divide penalty_subtracted any_number_counts "
            "nan_is_within_tolerance infinite_error gold_zero_divides answer_evaluated missing_absolute_value "
            "remembers_earlier_calls random_tie_break first_of_a_set cache_forgets_the_gold "
            "superset_is_perfect keywords_without_limit forgotten_return malformed_abstains bool_of_a_string "
            "no_first_line"
        ),
        "tests.faults.a": (
            "numeric_trivia fractions measurements xml_count species short_answers intents bulleted_list refusals"
        ),
        "tests.faults.b": (
            "ticket_category admits_missing_fact required_information physics_value boxed_integer "
            "claim_verdict pick_option all_solutions instruction_fraction copy_rubric bleu_translation "
            "search_agent sentence_mix recall_at_three predicted_outcomes tool_call no_call_expected"
        ),
        "tests.faults.c": (
            "chart_relaxed_accuracy vectorized_estimate ticket_queue_last_mention listing_rubric "
            "numbered_steps_format translation_sentence_bleu summary_rouge1 competition_math_boxed"
        ),
        "tests.faults.d": (
            "tool_call_match ticket_triage key_terms_summary headline_cosine keyword_list_f1 cached_overlap_f1 "
            "multiple_choice_letter safety_refusal manuscript_dating"
        ),
        "tests.faults.e": (
            "option_reward vitamin_reward integer_reward office_reward species_reward shuffled_choice_reward "
            "instruction_reward product_answer_reward honest_report_reward sql_reward tag_format_reward"
        ),
    },
}
_DOUBTFUL = {
    "tests.faults.a": "quantities calculator_agent multiple_choice citations",
    "tests.faults.c": "ticket_queue_last_mention roots_allclose numbered_steps_format pii_span_f1 refusal_opening",
    "tests.faults.d": "citation_f1 data_size_units safety_refusal",
    "tests.faults.e": "signature_reward",
}


def _cases(packages: dict[str, str]) -> set[Case]:
    return {
        (package.removeprefix("tests.faults."), name) for package, names in packages.items() for name in names.split()
    }


REAL = {tool: _cases(packages) for tool, packages in _REAL.items()}
"""Per tool: the cases on which one of its alerts is real."""
READ = {package for cases in REAL.values() for package, _ in cases}
"""The packages on which all alerts on faulty cases were read."""
DOUBTFUL = _cases(_DOUBTFUL)
"""The cases on which our check finds something, but nothing that is surely a defect."""
