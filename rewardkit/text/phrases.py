"""Words by language and role: the words for "wrong", "or", "half", and "the answer is" in a completion.

``words("or")`` is a pattern with the words for "or" in all languages. To support another language, add a row for it.
The roles, and their words in English:

============  =========================================================================================================
question      introduces the next question of a prompt with examples; MGSM's prompts have eleven of the languages
speaker       the user's name in a transcript
answer        the answer, before a verb or a colon; ``answer_alone`` if the verb may be missing or come last
is            is
final         final, correct; ``not_final``: wrong (both next to "answer")
wrong         wrong, after a value
no            no, before a value that replaces another
not           not, before a value; ``not_last`` if it comes last
hearsay       nobody, says, thinks, according to, if, perhaps: in a clause before a statement
doubt         wrong, if, not, perhaps, half: anywhere before a statement, in scripts that English does not share
or, and       between two values; "perhaps" is among the words for "or"
part          half, double
minus         minus, negative
scale         thousand, million; ``scale_mark`` if it follows the digits without a space
end           the verb at the end of a statement
============  =========================================================================================================

Words are patterns, which are as narrow as the benchmark texts allow. If a word is missing, a correct answer may be
rejected. If a word is superfluous, an incorrect answer may be accepted.
"""

from __future__ import annotations

_TABLE: dict[str, dict[str, str]] = {
    "en": {"question": "q|question|problem|exercise|instruction", "speaker": r"human|user|(?<=\#\ )instruction",
           "or": "or|xor|vs|versus|alternatively|failing that|if you (?:prefer|like)|maybe|perhaps|possibly|either|"
                 "otherwise|else",
           "and": "and|plus|also|too|then|with|as well as|along with|together with", "minus": "minus|negative",
           "scale": r"lakhs?|crores?|thou|grand|dozen|score|(?!months)\w+[ndfxh]ths|fourths|thirds|halves|"
                    r"mil(?:l?i(?:on|ard|oen)|lon|lón|jo+n|jard|h[õã]|yon|yar)\w*"},
    "de": {"question": "frage|aufgabe", "speaker": "nutzer|benutzer", "answer": "antwort|lösung",
           "answer_alone": "ist die antwort|ist die richtige antwort", "is": "ist|lautet", "final": "richtige",
           "wrong": "falsch|nicht|fehler", "no": "nein", "not": "nicht|kein|keine|falsch", "or": "oder|bzw|vielleicht",
           "and": "und", "part": "hälfte|doppelte", "scale": "mio|mrd|tausend",
           "hearsay": "niemand|denkt|glaubt|sagt|meint|wenn|falls|vielleicht|laut"},
    "nl": {"question": "vraag", "speaker": "gebruiker", "answer": "antwoord", "answer_alone": "is het antwoord",
           "is": "is", "wrong": "fout|niet|onjuist", "no": "nee", "not": "niet|geen", "part": "helft|dubbele",
           "minus": "min", "scale": "duizend", "hearsay": "volgens"},
    "sv": {"question": "fråga", "speaker": "användare", "answer": "svaret|svar", "is": "är", "wrong": "fel",
           "no": "nej", "not": "inte|ej|nej", "or": "kanske|eller", "and": "och", "part": "hälften", "scale": "tusen"},
    "da": {"question": "spørgsmål", "is": "er", "wrong": "forkert", "not": "ikke", "or": "måske", "and": "og",
           "part": "halvdelen"},
    "no": {"question": "spørsmål", "wrong": "feil", "not": "ikkje"},
    "is": {"not": "ekki"},
    "fr": {"speaker": "utilisateur", "answer": "réponse", "is": "est", "final": "correct[ae]|exacte|finale?",
           "not_final": "fausse", "wrong": "faux|fausse|erreur", "no": "non|pardon", "not": "pas|jamais|non|faux",
           "or": "ou|peut-être", "and": "et", "part": "moitié", "minus": "moins", "scale": "mille|milliers?",
           "hearsay": "personne|pense|peut-être|selon|d'après"},
    "es": {"question": "pregunta|problema", "speaker": "usuario", "answer": "respuesta", "is": "es",
           "final": "exacta", "not_final": "incorrect[ae]|errónea", "wrong": "falso|falsa|incorrecto|error",
           "no": "perdón", "not": "nunca|jamás|falso", "or": "o|tal vez|quizás?", "and": "y|e", "part": "mitad|doble",
           "minus": "menos", "scale": "mil", "hearsay": "nadie|dice|cree|creo|quizás?|tal vez|según"},
    "pt": {"question": "pergunta", "speaker": "usuário", "answer": "resposta", "is": "é", "final": "correta",
           "not_final": "errada", "wrong": "errado|errada|erro", "no": "não|perdão", "not": "não", "or": "talvez",
           "part": "metade|dobro", "minus": "negativ[eo]?", "scale": r"bilh\w+", "hearsay": "ninguém|talvez|segundo"},
    "it": {"question": "domanda", "speaker": "utente", "answer": "risposta", "is": "è", "final": "corretta|esatta",
           "not_final": "sbagliata|errata", "wrong": "sbagliato|errore", "or": "forse|oppure", "part": "metà",
           "minus": "meno", "scale": "mila", "hearsay": "forse|nessuno|secondo"},
    "ro": {"question": "întrebare", "answer": "răspunsul", "is": "este", "final": "corect", "not_final": "greșit",
           "wrong": "greșit", "no": "nu", "or": "poate|sau", "and": "și", "part": "jumătate"},
    "fi": {"question": "kysymys", "answer": "vastaus", "is": "on", "wrong": "väärin", "no": "ei", "not": "ei",
           "or": "ehkä|tai", "and": "ja", "part": "puolet", "minus": "miinus", "scale": r"tuhat\w*"},
    "et": {"or": "või"},
    "hu": {"question": "kérdés", "answer_alone": "válasz", "wrong": "hibás|rossz", "no": "nem", "not": "nem",
           "or": "talán|vagy", "and": "és", "part": "fele|kétszer", "minus": "mínusz", "scale": "ezer"},
    "cs": {"question": "otázka", "answer": "odpověď", "is": "je", "wrong": "špatně|nesprávně", "not": "ne|není",
           "or": "možná|nebo|anebo|alebo", "part": "polovin", "scale": r"tisíc\w*"},
    "pl": {"question": "pytanie|zadanie", "speaker": "użytkownik", "answer": "odpowiedź", "is": "to|brzmi",
           "wrong": "źle|nie|błąd", "no": "nie", "not": "nie", "or": "może|lub|albo|bądź", "and": "oraz",
           "part": "połow", "scale": r"tysiąc\w*|tysięcy", "hearsay": "według"},
    "sr": {"answer": "odgovor|одговор", "is": "је", "wrong": "pogrešno|погрешно", "not": "nije", "or": "ili"},
    "lt": {"not": "nėra", "or": "arba"},
    "lv": {"not": "nav"},
    "sq": {"not": "nuk", "or": "ose"},
    "eu": {"or": "edo"},
    "cy": {"not": "nid"},
    "ga": {"not": "ní"},
    "tr": {"question": "soru", "speaker": "kullanıcı", "answer_alone": "cevap|cevabı",
           "wrong": "yanlış|hayır|değil|hata", "no": "hayır", "not_last": "değil(?:dir)?|deyil",
           "or": "belki|veya|veyahut", "and": "ve", "part": "yarısı", "minus": "eksi", "scale": "bin",
           "end": "['’]?[dt][iıuü]r"},
    "kk": {"not_last": "emes|эмес|емес"},
    "mn": {"not_last": "биш"},
    "id": {"question": "soal|soalan|pertanyaan", "speaker": "pengguna", "answer": "jawaban|jawabannya",
           "is": "adalah", "final": "akhir|(?:yang )?(?:benar|tepat)", "not_final": "yang salah",
           "wrong": "salah|bukan|kesalahan", "no": "bukan", "not": "bukan|bukanlah|tidak", "or": "mungkin|atau|ataupun",
           "and": "dan", "part": "setengah|separuh", "minus": "negatif", "scale": "ribu|juta", "hearsay": "menurut"},
    "vi": {"question": "câu hỏi|bài toán", "speaker": "người dùng", "answer": "đáp án|câu trả lời", "is": "là",
           "final": "đúng", "not_final": "sai", "wrong": "sai|không|lỗi", "no": "không", "not": "không", "or": "hoặc",
           "and": "và", "part": "nửa|gấp đôi", "minus": "âm", "scale": "nghìn|ngàn|triệu|tỷ"},
    "tl": {"question": "tanong", "wrong": "mali", "not": "hindi"},
    "sw": {"question": "swali", "answer": "jibu", "final": "sahihi", "wrong": "makosa|si sahihi", "no": "hapana",
           "not": "siyo|si|sio|hapana", "or": "labda", "and": "na", "part": "nusu", "minus": "hasi",
           "scale": "elfu|laki"},
    "yo": {"answer": "ìdáhùn", "is": "(?:náà )?ni"},
    "zu": {"answer": "impendulo", "is": "ithi", "or": "noma|okanye"},
    "wo": {"answer": "tontu", "is": "(?:bi )?mooy"},
    "ha": {"answer": "amsar", "is": "ita ce"},
    "ig": {"answer": "azịza", "is": "bụ"},
    "rw": {"answer": "igisubizo", "or": "cyangwa"},
    "ru": {"question": "вопрос|задача(?:-вопрос)?|задание", "speaker": "пользователь", "answer_alone": "ответ",
           "is": "это", "wrong": "неверно|неправильно|нет|не так|ошибка", "no": "нет", "not": "не|нет",
           "or": "или|возможно|может быть|либо", "and": "и", "part": "половин|вдвое", "minus": "минус",
           "scale": r"тыс\w*|млн|млрд|миллион\w*|миллиард\w*",
           "hearsay": "мнению|словам|если|никто|думаю|думает|возможно|говорит"},
    "uk": {"question": "питання", "speaker": "користувач", "answer_alone": "відповідь", "wrong": "невірно|ні|помилка",
           "no": "ні", "not": "ні", "or": "або|чи", "and": "та", "minus": "мінус", "scale": r"тисяч\w*|мільйон\w*"},
    "bg": {"wrong": "грешно"},
    "el": {"question": "ερώτηση", "answer": "απάντηση", "is": "είναι", "wrong": "λάθος", "no": "όχι",
           "not": "δεν|όχι", "doubt": "λάθος|αν$|ίσως|δεν", "or": "ίσως|ή", "and": "και", "part": "μισό",
           "minus": "μείον", "scale": r"χιλιάδες|εκατομμύρι\w*"},
    "ar": {"question": "السؤال|سؤال", "speaker": "المستخدم", "answer": "الإجابة|إجابة|الجواب", "is": "هي|هو",
           "final": "الصحيحة|الصحيح|النهائية|النهائي", "not_final": "الخاطئة|الخاطئ", "wrong": "خطأ|خاطئ", "no": "لا",
           "not": "ليس|ليست|لا", "doubt": "خاطئة|الخاطئ|ليس|إذا|ربما|نصف", "or": "أو|او|أم|ربما", "and": "و",
           "part": "نصف|ضعف", "minus": "ناقص|سالب", "scale": "ألف|آلاف|مليون|مليار"},
    "fa": {"question": "سوال|پرسش", "answer_alone": "پاسخ|جواب", "wrong": "غلط|نادرست", "not": "لیس|نه",
           "not_last": "نیست|نمی\u200c?باشد|غلط", "doubt": "غلط|اشتباه|اگر|شاید|نیست", "or": "یا|شاید",
           "part": "نیم", "minus": "منفی|منفي", "scale": "هزار|میلیون"},
    "ur": {"not_last": "نہیں", "scale": "ہزار", "end": " ہے"},
    "he": {"question": "שאלה", "answer": "התשובה", "is": "היא", "final": "הנכונה|הסופית", "wrong": "שגוי|לא נכון",
           "not": "לא|אינו|אינה|אינן", "doubt": "שגוי|אם$|אולי|לא$", "or": "אולי|או", "and": "ו", "part": "חצי",
           "minus": "מינוס", "scale": "אלף|אלפים|מיליון"},
    "hi": {"question": "प्रश्न|सवाल", "speaker": "उपयोगकर्ता", "answer_alone": "उत्तर", "is": "है",
           "wrong": "गलत|ग़लत", "no": "नहीं", "not_last": "नहीं|नही|गलत|ग़लत",
           "doubt": "गलत|ग़लत|यदि|अगर|नहीं|शायद|आधा", "or": "या|अथवा|शायद", "and": "और|एवं", "part": "आध",
           "minus": "ऋणात्मक|माइनस", "scale_mark": "हज़ार|हजार|लाख|करोड़", "end": " है| हैं"},
    "mr": {"is": "आहे", "not_last": "नाही", "or": "किंवा", "and": "आणि", "end": " आहे"},
    "ne": {"is": "हो", "not_last": "होइन", "or": "वा", "end": " हो"},
    "bn": {"question": "প্রশ্ন", "answer_alone": "উত্তর", "is": "হল|হলো|হবে", "wrong": "ভুল", "no": "না",
           "not_last": "না|নয়|নয়|নহে|ভুল", "doubt": "ভুল|যদি|নয়|হয়তো|অর্ধেক", "or": "বা|অথবা|কিংবা",
           "and": "এবং|ও", "part": "অর্ধেক", "minus": "মাইনাস|ঋণাত্মক", "scale_mark": "হাজার|লক্ষ|লাখ|কোটি"},
    "te": {"question": "ప్రశ్న", "answer_alone": "సమాధానం|జవాబు", "wrong": "తప్పు", "not_last": "కాదు|తప్పు",
           "doubt": "తప్పు|ఒకవేళ|కాదు", "or": "లేదా", "and": "మరియు", "part": "సగం", "minus": "మైనస్",
           "scale_mark": "వేల|లక్ష|కోట్ల"},
    "ta": {"question": "கேள்வி", "answer_alone": "பதில்", "wrong": "தவறு", "not_last": "அல்ல|இல்லை|தவறு",
           "doubt": "தவறான|ஒருவேளை|இல்லை", "or": "அல்லது", "and": "மற்றும்", "part": "பாதி", "minus": "மைனஸ்",
           "scale_mark": "ஆயிர|லட்ச|கோடி"},
    "kn": {"not_last": "ಅಲ್ಲ", "or": "ಅಥವಾ"},
    "ml": {"not_last": "അല്ല", "or": "അല്ലെങ്കിൽ"},
    "pa": {"not_last": "ਨਹੀਂ", "or": "ਜਾਂ"},
    "gu": {"not_last": "નથી", "or": "અથવા"},
    "si": {"not_last": "නොවේ", "or": "හෝ"},
    "th": {"question": "โจทย์|คำถาม", "answer_alone": "คำตอบ|คำตอบที่ถูกต้อง", "is": "คือ", "wrong": "ผิด",
           "not_last": "ไม่ใช่", "doubt": "ผิด|ไม่|ถ้า|หาก|อาจ|ครึ่ง", "or": "หรือ", "and": "และ", "part": "ครึ่ง",
           "minus": "ลบ", "scale_mark": "หมื่น|แสน|ล้าน|พัน|ร้อย"},
    "lo": {"or": "ຫຼື"},
    "km": {"or": "ឬ"},
    "zh": {"question": "問題|问题|题目|題目|问|問", "speaker": "用户|用戶", "wrong": "[错錯誤误]了?|不对|不對",
           "no": "不|不是|不对|不對", "or": "或者?|还是|還是|也可能是|也可以是|或许是", "and": "以及|[和与與跟及]",
           "part": "一半|半分|两倍|兩倍", "minus": "[负負]",
           "hearsay": "如果|假如|假设|若|可能|也许|没有人|有人|不认为"},
    "ja": {"question": "質問", "speaker": "ユーザー", "wrong": "違う|違います|間違い|誤り", "no": "いや|いいえ",
           "or": "または|又は|もしくは|あるいは", "and": "および|及び|ならびに|[とや]", "minus": "マイナス",
           "end": "です|である|でした|になります|となります|だ", "hearsay": "もし"},
    "ko": {"question": "질문|문제", "speaker": "사용자", "wrong": "틀렸|틀림|오답|아니", "no": "아니|아니요",
           "or": "이?나(?= )|또는?|혹은|아니면|이?거나", "and": "[와과]|및|하고|이?랑|그리고", "part": "절반",
           "minus": "마이너스", "scale_mark": "[십백천만억조]", "end": "입니다|이다|이에요|예요", "hearsay": "만약"},
}  # fmt: skip

_UNSPACED = frozenset(("th", "lo", "km", "zh", "ja", "ko"))
"""Languages written without spaces between words, or with particles attached to words."""

_COMBINING = frozenset(("hi", "mr", "ne", "bn", "te", "ta", "kn", "ml", "pa", "gu", "si"))
"""Languages written with vowel signs, which ``\\w`` does not match: ``\\b`` does not mark the end of their words."""


def words(role: str) -> str:
    """Return the words for a role in all languages, as alternatives for a pattern."""
    return "|".join(row[role] for row in _TABLE.values() if role in row)


def joining_words(role: str) -> str:
    """Return a pattern for the words for a role in all languages. In languages with spaces, it matches whole words."""
    lists: dict[str, list[str]] = {r"\b(?:{})\b": [], r"(?<!\S)(?:{})(?!\S)": [], "{}": []}
    spaced, combining, unspaced = lists.values()
    for language, row in _TABLE.items():
        if role in row:
            kind = unspaced if language in _UNSPACED else combining if language in _COMBINING else spaced
            kind.append(row[role])
    return "|".join(pattern.format("|".join(alternatives)) for pattern, alternatives in lists.items() if alternatives)


IS_WORDS, PART_WORDS, WRONG_WORDS = words("is"), words("part"), words("wrong")
OR_WORDS, AND_WORDS = joining_words("or"), joining_words("and")
