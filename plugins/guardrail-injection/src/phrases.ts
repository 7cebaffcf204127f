/**
 * Phrases of attempts to talk a model out of its instructions, as patterns over folded text: lower
 * case, one blank between words.
 */

import type { RuleName } from "./rules.ts";

/**
 * A pattern and the rule it belongs to. Every gap has a bound, so that a long text costs no more
 * than its length.
 */
export interface Phrase {
  readonly rule: RuleName;
  readonly pattern: RegExp;
  /** In another alphabet than the Latin one: letters that look alike are left as they are. */
  readonly isOwnAlphabet?: boolean;
}

const override = (pattern: RegExp, isOwnAlphabet = false): Phrase => ({
  rule: "override",
  pattern,
  isOwnAlphabet,
});

export const PHRASES: readonly Phrase[] = [
  override(
    /\b(?:ignore|disregard|forget|override|bypass|neglect|skip|drop) (?:.{0,40}? )?(?:previous|prior|above|earlier|preceding|all|an[y]|your|system|original|initial|developer)(?: .{0,30}?)? (?:instructions?|prompts?|directives?)\b/,
  ),
  // Rules are also those of a linter: they must be the model's.
  override(
    /\b(?:ignore|disregard|forget|override|bypass|neglect|drop) (?:.{0,40}? )?(?:previous|prior|above|earlier|preceding|your|system|original|initial|safety)(?: .{0,30}?)? (?:rules|guidelines|guardrails|restrictions|policies)\b/,
  ),
  override(
    /\b(?:ignore|disregard|forget) (?:everything|anything|all|what) (?:(?:of )?(?:the|that) )?(?:above|before|previous|prior|was said|has been said|you were told|you have been told|i said|i told you)\b/,
  ),
  override(
    /\bdo not (?:follow|obey) (?:.{0,30}? )?(?:previous|prior|earlier|above|system|original) (?:instructions?|prompts?|rules)\b/,
  ),
  override(
    /\b(?:ignorier\w{0,3}|vergiss|vergessen sie|missachte\w{0,2}|uberschreib\w{0,3}) (?:.{0,40}? )?(?:anweisung\w{0,2}|instruktion\w{0,2}|regeln|vorgaben|befehle)\b/,
  ),
  override(
    /\b(?:ignore[rz]?|oublie[rz]?|ne (?:tiens|tenez) pas compte de) (?:.{0,40}? )?(?:instructions?|consignes?|regles|directives?)\b/,
  ),
  override(
    /\b(?:ignora\w{0,2}|olvid\w{1,3}|omite|descarta) (?:.{0,40}? )?(?:instrucciones|reglas|indicaciones|ordenes)\b/,
  ),
  override(
    /\b(?:ignora\w{0,2}|dimentica\w{0,2}|trascura) (?:.{0,40}? )?(?:istruzioni|regole|direttive|indicazioni)\b/,
  ),
  override(
    /\b(?:ignor[ea]\w{0,2}|esque[cs]a\w{0,2}|desconsider[ea]\w{0,2}) (?:.{0,40}? )?(?:instrucoes|regras|diretrizes|orientacoes)\b/,
  ),
  override(/\b(?:negeer|vergeet) (?:.{0,40}? )?(?:instructies|regels|opdrachten|aanwijzingen)\b/),
  override(
    /\b(?:z?ignoruj\w{0,2}|zapomnij\w{0,2}|pomin\w{0,2}) (?:.{0,40}? )?(?:instrukcj\w{1,2}|polece\w{1,3}|zasad\w{0,2}|wytyczn\w{1,2})\b/,
  ),
  override(
    /\b(?:ignorera|glom|bortse fran) (?:.{0,40}? )?(?:instruktion\w{0,4}|regler\w{0,2}|anvisning\w{0,4})\b/,
  ),
  override(
    /\b(?:onceki|tum|yukaridaki) .{0,20}?(?:talimat|komut|kural)\w{0,8} (?:.{0,12}? )?(?:yok say|unut|gormezden|dikkate alma)/,
  ),
  override(
    /(?:игнорируй|проигнорируй|забудь|отбрось|нарушь).{0,40}?(?:инструкци|указани|правил|команд)/,
    true,
  ),
  override(/(?:ігноруй|проігноруй|забудь).{0,40}?(?:інструкці|вказівк|правил)/, true),
  override(
    /(?:忽略|无视|無視|忘记|忘掉|不要理会|不要遵守).{0,16}?(?:指令|指示|说明|規則|规则|提示|命令|要求)/,
    true,
  ),
  override(
    /(?:以前|前|これまで|上記|上|すべて|全て).{0,10}?(?:指示|命令|ルール|プロンプト|設定).{0,8}?(?:無視|忘れ|破棄)/,
    true,
  ),
  override(
    /(?:이전|위의?|앞의|모든|지금까지).{0,10}?(?:지시|명령|규칙|프롬프트|지침).{0,8}?(?:무시|잊|따르지)/,
    true,
  ),
  override(/(?:تجاهل|انس|تخطى).{0,24}?(?:التعليمات|الأوامر|القواعد|تعليمات)/, true),
  override(/(?:निर्देश|नियम|आदेश).{0,24}?(?:अनदेखा|भूल|नज़रअंदाज़|नजरअंदाज)/, true),
  {
    rule: "extraction",
    pattern:
      /\b(?:reveal|show|print|repeat|output|display|leak|dump|disclose|tell me|give me|what(?: is| are|'s)|write out|translate|summari[sz]e) (?:.{0,30}? )?(?:(?:system|initial|hidden|original|secret|developer) (?:prompt|instructions?|message|rules)|your (?:prompt|instructions|guidelines|rules)|(?:text|words|everything|all) above)\b/,
  },
  {
    rule: "extraction",
    pattern:
      /\b(?:zeige?|nenne?|gib|wiederhole) (?:.{0,30}? )?(?:system-?prompt|systemanweisung\w{0,2}|deine anweisungen)\b/,
  },
  {
    rule: "extraction",
    pattern:
      /\b(?:montre|affiche|repete|revele|muestra|revela|repite|mostra|rivela|ripeti)\w{0,3} (?:.{0,30}? )?(?:prompt|instructions systeme|instrucciones|istruzioni|instrucoes)\b/,
  },
  {
    rule: "role",
    pattern:
      /\byou are (?:now|no longer) (?:.{0,24}? )?(?:dan|jailbroken|unrestricted|unfiltered|free of|bound by|an ai|developer mode|evil)\b/,
  },
  {
    rule: "role",
    pattern:
      /\b(?:do anything now|developer mode (?:enabled|on|activated)|enable developer mode|jailbreak mode|god mode|dan mode)\b/,
  },
  {
    rule: "role",
    pattern:
      /\b(?:pretend|act|behave|roleplay|respond|imagine|simulate) (?:.{0,50}? )?(?:no|without(?: an[y])?|free of|ignoring) (?:restrictions?|rules|filters?|limits?|limitations?|guidelines|ethics|censorship|safety)\b/,
  },
  {
    rule: "role",
    pattern:
      /\b(?:stay in character|never refuse|you (?:cannot|can not|must not|may not|will not) (?:refuse|decline))\b/,
  },
  {
    rule: "turn",
    pattern:
      /(?:^| )(?:#{2,3} ?(?:system|instruction|new instructions?)|(?:new|updated|real|actual) (?:system )?(?:instructions?|prompt|task):|\[?(?:system|developer) (?:message|prompt|override)\]?:|end of (?:system )?(?:prompt|document|instructions))/,
  },
];
