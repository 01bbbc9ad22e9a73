"""Every instruction, with arguments, a text that follows it and one that does not."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

REQUEST = "Describe the harbor of Oslo in winter."
FIVE = {"keyword1": "ice", "keyword2": "fog", "keyword3": "tar", "keyword4": "oak", "keyword5": "elm"}
ALPHABET = " ".join(f"{chr(65 + number)}nd then number {'x' * (number + 1)} came." for number in range(26))
PALINDROMES = "level radar kayak civic refer rotor madam tenet stats solos"
COUNTRIES = (
    "Zimbabwe Zambia Uganda Tunisia Togo Tanzania Sudan Somalia Senegal Rwanda Nigeria Niger Namibia Mozambique "
    "Morocco Mauritius Mauritania Mali Malawi Madagascar Libya Liberia Lesotho Kenya Guinea-Bissau Guinea Ghana "
    "Gambia Gabon Ethiopia Eswatini Eritrea Egypt Djibouti Congo Comoros Chad Cameroon Burundi "
    "Botswana Benin Angola Algeria"
)
LONG_COUNTRIES = (
    "South Sudan,South Africa,Sierra Leone,Seychelles,Sao Tome and Principe,Ivory Coast,Equatorial Guinea,"
    "Democratic Republic of the Congo,Central African Republic,Cape Verde,Burkina Faso"
)
AFRICA = "\n".join(sorted([*COUNTRIES.split(" "), *LONG_COUNTRIES.split(",")], reverse=True))
CAPITALS = (
    "Reykjavik, Helsinki, Oslo, Tallinn, Stockholm, Riga, Moscow, Copenhagen, Vilnius, Minsk, Dublin, Berlin, "
    "Amsterdam, Warsaw, London, Brussels, Prague, Luxembourg, Paris, Vienna, Bratislava, Budapest, Vaduz, Chisinau, "
    "Bern, Ljubljana, Zagreb"
)
QUIZ = "\n".join(
    f"Question {number}\nWho painted{' so very' * number} well?\nA) Klee\nB) Miro\nC) Dali\nD) Kahlo\nE) Pollock"
    for number in range(1, 5)
)
PRODUCTS = "\n".join(["ProductID,Category,Brand,Price,Stock", *(f'{n},"Tools & more",Acme,{n}.5,9' for n in range(14))])
CITIES = "\n".join(["ID,Country,City,Year,Count", *(f"{n},Norway,Oslo,2020,{n}" for n in range(7))])
GRADES = "\n".join(
    ['"StudentID"\t"Subject"\t"Grade"\t"Semester"\t"Score"', *(f'"{n}"\t"Art"\t"A"\t"1"\t"9"' for n in range(3))]
)
REPEATED = "Fog ice ice tar tar tar" + " oak" * 5 + " elm" * 7


@dataclass(frozen=True)
class Case:
    """A text that follows an instruction, and one that does not."""

    right: str
    wrong: str
    arguments: dict[str, Any] = field(default_factory=dict)


def case(right: str, wrong: str, **arguments: Any) -> Case:
    return Case(right, wrong, arguments)


CASES: dict[str, Case] = {
    # IFEval
    "keywords:existence": case("Fog and ice.", "Fog alone.", keywords=["ice", "fog"]),
    "keywords:frequency": case("Ice on ice.", "Ice on water.", keyword="ice", frequency=2, relation="at least"),
    "keywords:forbidden_words": case("The prices rise.", "The rice is cold.", forbidden_words=["rice", "fog"]),
    "keywords:letter_frequency": case("A bee.", "An elm tree.", letter="e", let_frequency=3, let_relation="less than"),
    "language:response_language": case(
        "Der Hafen liegt im Winter still unter dem Nebel.", "The harbor lies still under the winter fog.", language="de"
    ),
    "length_constraints:number_sentences": case(
        "Dr. Vik came. She left. Why?", "Dr. Vik came. She left.", num_sentences=3, relation="at least"
    ),
    "length_constraints:number_paragraphs": case("One.\n***\nTwo.", "One.\n***\n\n***\nTwo.", num_paragraphs=2),
    "length_constraints:number_words": case(
        "Just three words", "Now four words here", num_words=4, relation="less than"
    ),
    "length_constraints:nth_paragraph_first_word": case(
        "Fog came.\n\nIce, too.", "Fog came.\n\nSnow.", num_paragraphs=2, nth_paragraph=2, first_word="ice"
    ),
    "detectable_content:number_placeholders": case("Dear [name] of [city],", "Dear [name],", num_placeholders=2),
    "detectable_content:postscript": case(
        "So it is.\nP.S. Write soon.", "So it is. Write soon.", postscript_marker="P.S."
    ),
    "detectable_format:number_bullet_lists": case("* fog\n* ice", "* fog\n* ice\n- snow", num_bullets=2),
    "detectable_format:constrained_response": case("My answer is maybe.", "Maybe."),
    "detectable_format:number_highlighted_sections": case("*fog* and **ice**", "*fog* and ice", num_highlights=2),
    "detectable_format:multiple_sections": case(
        "Section 1\nFog.\nSection 2\nIce.", "Section 1\nFog and ice.", section_spliter="Section", num_sections=2
    ),
    "detectable_format:json_format": case('```json\n{"fog": true}\n```', "{'fog': true}"),
    "detectable_format:title": case("<<Fog>>\nIt came.", "<< >>\nIt came."),
    "combination:two_responses": case("Fog.\n******\nIce.", "Fog.\n******\nFog."),
    "combination:repeat_prompt": case(f"{REQUEST} It is cold.", "It is cold.", prompt_to_repeat=REQUEST),
    "startend:end_checker": case("Fog came. That is all.", "That is all. Or not.", end_phrase="That is all."),
    "startend:quotation": case('"Fog came."', "Fog came."),
    "change_case:capital_word_frequency": case(
        "FOG came with ICE.", "FOG came.", capital_frequency=2, capital_relation="at least"
    ),
    "change_case:english_capital": case("THE FOG CAME TO THE HARBOR IN THE NIGHT.", "The fog CAME to the harbor."),
    "change_case:english_lowercase": case("the fog came to the harbor in the night.", "The fog came to the harbor."),
    "punctuation:no_comma": case("Fog and ice.", "Fog, ice."),
    # IFBench
    "count:word_count_range": case("One two three four", "One two", min_words=3, max_words=5),
    "count:unique_word_count": case("Fog, ice and snow.", "Fog fog FOG fog.", N=4),
    "ratio:stop_words": case("Fog covers harbors", "It is in the fog", percentage=40),
    "ratio:sentence_type": case("Fog came. It stayed. Why?", "Fog came. Why? Who?"),
    "ratio:sentence_balance": case("Fog came. Why? Go!", "Fog came. Why? Who? Go!"),
    "count:conjunctions": case("Fog and ice, or snow; but no rain.", "Fog and ice and snow.", small_n=3),
    "count:person_names": case("Emma met Liam and Zoe.", "Emma met Emma and Zoeb.", N=3),
    "ratio:overlap": case("abcdef", "abcxyz", reference_text="abcdef", percentage=100),
    "count:numbers": case("In 1905, 7 boats.", "In 1905, 7 or 8 boats.", N=2),
    "words:alphabet": case("Yellow zebras ate berries", "Yellow zebras ate cheese"),
    "words:vowel": case("A man has a red hat on", "A man undid his red hat on us"),
    "words:consonants": case("Fresh bread tastes best", "Fresh bread is best"),
    "sentence:alliteration_increment": case(
        "Fog came. Big boats bob. We saw six silver seals sing.", "Big boats. Fog."
    ),
    "words:palindrome": case(PALINDROMES, PALINDROMES.rpartition(" ")[0]),
    "count:punctuation": case("Fog; ice: snow, rain! Why? Really?! Yes.", "Fog; ice, snow! Why?! Yes."),
    "format:parentheses": case("So (a [b {c (d [e])}]).", "So (a [b {c (d)}])."),
    "format:quotes": case('He said "she said \'they said "no"\' then" once.', "He said \"she said 'no'\"."),
    "words:prime_lengths": case("The fog is so quiet", "The fog came"),
    "format:options": case("Maybe.", "Maybe yes", options="yes/no/maybe"),
    "format:newline": case("Fog\ncame\nin.", "Fog came\nin."),
    "format:emoji": case("Fog came \U0001f32b. Ice came! \U0001f9ca", "Fog came \U0001f32b. Ice came."),
    "ratio:sentence_words": case("Fog came. Ice grew. Men slid.", "Fog came. Ice grew up. Men slid."),
    "count:words_japanese": case("The fog \u9727 came with \u6c37", "The fog came down with \u6c37", N=3),
    "words:start_verb": case("Consider the fog.", "The fog came."),
    "words:repeats": case("Fog on fog.", "Fog on fog in fog.", small_n=2),
    "sentence:keyword": case("Ice came. Fog followed.", "Fog came. Ice followed.", word="fog", N=2),
    "count:pronouns": case("I'm sure they know us.", "Fog came to them.", N=3),
    "words:odd_even_syllables": case("fog over rocks, water boats", "fog came over water"),
    "words:last_first": case("We saw fog. Fog brought ice. Ice!", "We saw fog. Then ice."),
    "words:paragraph_last_first": case("Fog came, then fog.\nIce was ice", "Fog came.\nIce was ice"),
    "sentence:increment": case("Fog came. Then ice came down.", "Fog came. Then ice came.", small_n=2),
    "words:no_consecutive": case("Fog brought ice", "Fog felt cold"),
    "format:line_indent": case("Fog\n came\n  in", "Fog\n came\n in"),
    "format:quote_unquote": case('"Fog came" means that we wait.', 'We wait: "Fog came."'),
    "format:list": case("SEPARATOR fog\nSEPARATOR ice", "SEPARATOR fog\n- ice", sep="SEPARATOR"),
    "format:thesis": case("<i>Fog is cold.</i> It came at night.", "<i></i>Fog is cold."),
    "format:sub-bullets": case("* fog\n  - thick\n* ice\n  - thin", "* fog\n  - thick\n* ice"),
    "format:no_bullets_bullets": case("Fog came. Ice came.\n* one\n* two", "Fog came.\n* one\n* two"),
    "custom:multiples": case("14, 21, 28, 35, 42, 49", "7, 14, 21, 28, 35, 42, 49"),
    "custom:mcq_count_length": case(QUIZ, QUIZ.replace(" so very", "")),
    "custom:reverse_newline": case(AFRICA, "\n".join(sorted(AFRICA.split("\n")))),
    "custom:word_reverse": case("symbol national the is eagle bald The", "The bald eagle is the national symbol"),
    "custom:character_reverse": case("elgae dlab ehT", "eagle bald the"),
    "custom:sentence_alphabet": case(ALPHABET, ALPHABET.replace("Cnd", "And")),
    "custom:european_capitals_sort": case(CAPITALS, CAPITALS.replace("Oslo, Tallinn", "Tallinn, Oslo")),
    "custom:csv_city": case(CITIES, CITIES.replace("Norway,", "")),
    "custom:csv_special_character": case(PRODUCTS, PRODUCTS.replace('"Tools & more"', "Tools")),
    "custom:csv_quotes": case(GRADES, GRADES.replace('"', "")),
    "custom:date_format_list": case("1796-04-12, 1805-12-02", "1796-04-12, 2 December 1805"),
    "count:keywords_multiple": case(REPEATED.replace("Fog", "Fog fog").replace("ice ice", "ice"), REPEATED, **FIVE),
    "words:keywords_specific_position": case("Ice. We saw fog.", "Ice. We fog saw.", keyword="fog", n=2, m=3),
    "words:words_position": case("The fog brought more fog today.", "The fog brought more ice today.", keyword="fog"),
    "repeat:repeat_change": case(REQUEST.replace("Describe", "Draw"), REQUEST, prompt_to_repeat=REQUEST),
    "repeat:repeat_simple": case("Only output this sentence here, ignore all other requests.", "Fog came."),
    "repeat:repeat_span": case("harbor of  OSLO", "scribe", prompt_to_repeat=REQUEST, n_start=2, n_end=4),
    "format:title_case": case("The Fog Came", "The fog Came"),
    "format:output_template": case(
        "My Answer: Fog\nMy Conclusion: Wait\nFuture Outlook: Ice", "My Answer: My Conclusion: Future Outlook: Ice"
    ),
    "format:no_whitespace": case("Fog-and-ice.", "Fog and ice."),
    # the training set of IFBench
    "copy:repeat_phrase": case(
        "the cold fog came, the thick fog came", "the gray fog came", phrase="the gray fog came", small_n=2
    ),
    "copy:copy": case(REQUEST, "Describe it.", prompt_to_repeat=REQUEST),
    "new:copy_span_idx": case("harbor", "the harbor", prompt_to_repeat=REQUEST, n_start=13, n_end=18),
    "detectable_format:sentence_hyphens": case("Fog came.-Ice came.", "Fog came. Ice came."),
    "keywords:no_adjacent_consecutive": case("Fog came in", "Fog got in"),
    "detectable_format:square_brackets": case("[Fog] [came]", "[Fog] came"),
    "keywords:word_once": case("Fog came.", "Fog met fog.", keyword="fog"),
    "keywords:word_count_different_numbers": case(
        "Fog on fog.", "Fog.", keyword="fog", frequency=2, relation="at least"
    ),
    "keywords:exclude_word_harder": case("Ice came.", "Then came fog.", keyword="fog"),
    "paragraphs:paragraphs": case("Fog.\n***\nIce.", "Fog.\n\nIce."),
    "paragraphs:paragraphs2": case("Fog.\n\nIce.", "Fog.\nIce."),
    "first_word:first_word_sent": case("Fog came. Fog left.", "Fog came. Ice left.", first_word="fog"),
    "first_word:first_word_answer": case("Fog came.", "The fog came.", first_word="fog"),
    "last_word:last_word_sent": case("Here is fog. We love fog!", "Here is fog. We love ice!", last_word="fog"),
    "last_word:last_word_answer": case("Here is fog.", "Here is ice.", last_word="fog"),
    "detectable_format:bigram_wrapping": case("<<Fog came>> <<in fast>>", "<<Fog came>> in fast"),
    "copy:copying_simple": case(REQUEST, f"{REQUEST} Well.", prompt_to_repeat=REQUEST),
    "copy:copying_multiple": case(f"{REQUEST}\n******\n{REQUEST}", REQUEST, prompt_to_repeat=REQUEST, N=2),
    "punctuation:punctuation_dot": case("Fog came!", "Fog came."),
    "punctuation:punctuation_exclamation": case("Fog came.", "Fog came!"),
    "count:lowercase_counting": case("FOG came", "FOG came in slowly", N=2),
    "letters:letter_counting": case("Fog", "Fog came", N=4, relation="less than"),
    "letters:letter_counting2": case("Eel", "Fog", letter="e", let_frequency=2, let_relation="at least"),
    "count:counting_composition": case(
        "Fog came. It stayed.\n***\nIce came. It broke.\n***\nSpring came. We sailed.",
        "Fog came. It stayed.\n***\nIce came. It broke soon.\n***\nSpring came. We sailed.",
        n_sent=2,
        n_words=2,
    ),
    "count:count_unique": case("Fog came in.", "Fog met Fog."),
    "count:count_increment_word": case("Fog on ice on ice.", "Fog on ice.", keyword1="fog", keyword2="ice"),
    "keywords:palindrome": case("We saw a kayak.", "I saw a boat."),
    "keywords:keyword_specific_position": case("Ice. We saw fog.", "Ice. Fog came.", keyword="fog", n=2, m=3),
    "keywords:start_end": case("Fog came as fog", "Fog came as ice"),
}
