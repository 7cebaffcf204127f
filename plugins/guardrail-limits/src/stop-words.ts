/** Common words of languages in Latin letters: those that a sentence hardly does without. */

export const STOP_WORDS: Readonly<Record<string, readonly string[]>> = {
  en: "the of and to in is that it for was on are with as be at this have from or by not but what you we they an which can will there would how all when your about please has if do does i my me".split(
    " ",
  ),
  de: "der die das und ist nicht ein eine zu den mit von für auf sich dem des im auch es an werden aus er hat dass sie nach wird bei einer um am sind noch wie einem über so zum aber wir ich kann wenn haben was mir bitte".split(
    " ",
  ),
  fr: "le la les de des et est un une du que qui dans en pour pas sur au avec ce il sont plus par ne se je vous nous mais ou cette être elle fait ses aux comme si leur y ont quel comment quelle mon ma à c'est d'une".split(
    " ",
  ),
  es: "el la los las de y que en un una es por con no para se del al lo como más pero sus le ya o fue este ha sí porque esta son entre cuando muy sin sobre ser también me hasta hay donde qué cómo está yo mi".split(
    " ",
  ),
  it: "il lo la i gli le di e che un una è per non in con del della si sono da come più ma al dei anche nel alla ha delle questo ho se cosa questa o loro essere molto io mi nella ci quando perché dal sul puoi".split(
    " ",
  ),
  pt: "o a os as de e que um uma em para com não por do da no na se é mais dos como mas foi ao ele das tem à seu sua ou ser quando muito há nos já está eu também só pelo pela até isso você ela num são".split(
    " ",
  ),
  nl: "de het een en van in is dat op te zijn met voor niet aan er om ook als dan maar bij uit nog naar kan die deze heeft wordt door hij ik je was worden over hun zo meer we ze geen heb mijn of kun wat hoe".split(
    " ",
  ),
  pl: "i w nie na się z do to że jest o jak ale po co tak za od już przez dla czy tylko być może są które który oraz ze jego tym ma mnie także przy jeszcze gdy był można pod jako bardzo mi proszę ten ta".split(
    " ",
  ),
  sv: "och i att det som en på är av för med till den inte om ett har de jag var men så kan från vi när han eller du nu man hur mig där vid efter alla också här bara detta under än mycket vad kunde ska".split(
    " ",
  ),
  tr: "ve bir bu da de için ile çok olarak daha gibi ne var kadar sonra en olan ama mi ben o şu her değil nasıl biz ki ya veya hem onu bana yok mu önce ise şey kendi olduğu nerede misin lütfen".split(
    " ",
  ),
};
