/** A sentence of a language that an operator may not allow, for the self-test. */

export const SAMPLES: readonly (readonly [string, string])[] = [
  ["zh", "今天天气很好，我们一起去公园散步吧。"],
  ["ru", "Сегодня хорошая погода, и мы все пойдём гулять в парк."],
  ["en", "The weather is fine today and we will all go for a walk in the park."],
  ["de", "Das Wetter ist heute schön und wir gehen alle mit den Kindern in den Park."],
];
