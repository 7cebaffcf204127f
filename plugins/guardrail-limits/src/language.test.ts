import { describe, expect, it } from "vitest";
import { LANGUAGES, languageOf } from "./language.ts";

/** Sentences as people write them to a model, a few for each language. */
const SENTENCES: Readonly<Record<string, readonly string[]>> = {
  en: [
    "Can you please help me to write a letter to my landlord about the heating?",
    "What is the difference between these two functions?",
    "I have been waiting for an answer since Monday.",
  ],
  de: [
    "Kannst du mir bitte helfen, einen Brief an meinen Vermieter zu schreiben?",
    "Was ist der Unterschied zwischen diesen beiden Funktionen?",
    "Ich warte seit Montag auf eine Antwort von euch.",
  ],
  fr: [
    "Pouvez-vous m'aider à écrire une lettre à mon propriétaire pour le chauffage ?",
    "Quelle est la différence entre ces deux fonctions ?",
    "Je suis dans le train et je ne peux pas vous répondre.",
  ],
  es: [
    "¿Me puedes ayudar a escribir una carta al dueño de la casa por la calefacción?",
    "¿Cuál es la diferencia entre estas dos funciones?",
    "Estoy esperando una respuesta desde el lunes, pero no hay nada.",
  ],
  it: [
    "Mi puoi aiutare a scrivere una lettera al proprietario della casa per il riscaldamento?",
    "Qual è la differenza tra queste due funzioni?",
    "Sono nel treno e non ho ancora ricevuto la risposta che aspetto.",
  ],
  pt: [
    "Você pode me ajudar a escrever uma carta para o dono da casa?",
    "Qual é a diferença entre as duas funções do programa?",
    "Estou esperando uma resposta desde segunda, mas não há nada.",
  ],
  nl: [
    "Kun je mij helpen om een brief aan de eigenaar van het huis te schrijven?",
    "Wat is het verschil tussen deze twee functies van het programma?",
    "Ik wacht al sinds maandag op een antwoord van jullie.",
  ],
  pl: [
    "Czy możesz mi pomóc napisać list do właściciela, który nie odpowiada?",
    "Jaka jest różnica i co to jest za funkcja, która się nie kończy?",
    "Od poniedziałku czekam na odpowiedź, ale jeszcze nie ma jej w skrzynce.",
  ],
  sv: [
    "Kan du hjälpa mig att skriva ett brev till min hyresvärd om värmen?",
    "Vad är skillnaden mellan de här två funktionerna som jag har?",
    "Jag har väntat på ett svar från er sedan i måndags.",
  ],
  tr: [
    "Bana ev sahibine bir mektup yazmak için yardım edebilir misin lütfen?",
    "Bu iki fonksiyon ve o program için en iyi yol ne?",
    "Ben pazartesi gününden beri bir cevap bekliyorum ama yok.",
  ],
  ru: [
    "Помоги мне, пожалуйста, написать письмо хозяину квартиры об отоплении.",
    "Чем эти две функции отличаются друг от друга?",
  ],
  uk: [
    "Допоможи мені, будь ласка, написати листа власникові квартири.",
    "Чим ці дві функції відрізняються одна від одної?",
  ],
  el: ["Μπορείς να με βοηθήσεις να γράψω ένα γράμμα στον ιδιοκτήτη;"],
  ar: ["هل يمكنك مساعدتي في كتابة رسالة إلى صاحب المنزل؟"],
  he: ["האם אתה יכול לעזור לי לכתוב מכתב לבעל הבית בבקשה?"],
  hi: ["क्या आप मकान मालिक को पत्र लिखने में मेरी मदद कर सकते हैं?"],
  th: ["คุณช่วยฉันเขียนจดหมายถึงเจ้าของบ้านได้ไหม"],
  ko: ["집주인에게 보낼 편지를 쓰는 것을 도와줄 수 있나요?"],
  ja: ["大家さんに手紙を書くのを手伝ってくれますか。"],
  zh: ["你能帮我给房东写一封信吗？"],
};

const UNKNOWN = [
  "ok",
  "12345 67890 12345 67890 12345",
  "xq zrt plm vbn qwx kjh fgd",
  "const x = y => z.map(fn).filter(Boolean);",
  "",
];

describe("the language of a text", () => {
  it("is detected in ordinary sentences, and never as another language", () => {
    const judged = Object.entries(SENTENCES).flatMap(([code, texts]) =>
      texts.map((text) => ({ code, text, detected: languageOf(text) })),
    );
    const wrong = judged.filter(
      ({ code, detected }) => detected !== undefined && detected !== code,
    );
    const missed = judged.filter(({ detected }) => detected === undefined);
    // oxlint-disable-next-line no-console -- the accuracy that the README states.
    console.info(
      `languages: ${judged.length - missed.length - wrong.length} of ${judged.length} detected, ${missed.length} unknown, ${wrong.length} wrong`,
    );
    expect(wrong).toEqual([]);
    expect(missed.length).toBeLessThanOrEqual(Math.floor(judged.length * 0.05));
    expect(Object.keys(SENTENCES).toSorted()).toEqual(LANGUAGES.toSorted());
  });

  it.each(UNKNOWN)("is not detected in texts of no language: %s", (text) => {
    expect(languageOf(text)).toBeUndefined();
  });
});
