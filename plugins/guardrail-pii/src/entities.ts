/** The kinds of personal data, by their names in the configuration. */

import type { TextRule } from "@sluice/kit/guard";
import { EMAIL, IP, PHONE } from "./contact.ts";
import * as ids from "./national-ids.ts";
import { CARD, IBAN } from "./payment.ts";

/** A kind of personal data. */
export interface Entity {
  /** The word in the replacement: `EMAIL` in `[EMAIL]`, `[EMAIL_1]`. */
  readonly word: string;
  readonly rules: readonly TextRule[];
  /** One of it, for the self-test. */
  readonly sample: string;
  /** Whether it is looked for when the configuration names none. */
  readonly isDefault: boolean;
}

/** Kinds with a form of their own; names come from the operator's list. */
export const ENTITIES = {
  email: { word: "EMAIL", rules: [EMAIL], sample: "ada@example.com", isDefault: true },
  phone: { word: "PHONE", rules: PHONE, sample: "+44 20 7946 0958", isDefault: true },
  card: { word: "CARD", rules: [CARD], sample: "4111 1111 1111 1111", isDefault: true },
  iban: { word: "IBAN", rules: [IBAN], sample: "DE89 3704 0044 0532 0130 00", isDefault: true },
  ip: { word: "IP", rules: IP, sample: "192.0.2.17", isDefault: true },
  us_ssn: { word: "US_SSN", rules: [ids.US_SSN], sample: "123-45-6789", isDefault: true },
  es_dni: { word: "ES_DNI", rules: [ids.ES_DNI], sample: "12345678Z", isDefault: true },
  de_tax_id: { word: "DE_TAX_ID", rules: [ids.DE_TAX_ID], sample: "86095742719", isDefault: true },
  fr_nir: { word: "FR_NIR", rules: [ids.FR_NIR], sample: "2 55 08 14 168 025 38", isDefault: true },
  it_codice_fiscale: {
    word: "IT_CF",
    rules: [ids.IT_CODICE_FISCALE],
    sample: "RSSMRA85T10A562S",
    isDefault: true,
  },
  uk_nino: { word: "UK_NINO", rules: [ids.UK_NINO], sample: "AB 12 34 56 C", isDefault: true },
  nl_bsn: { word: "NL_BSN", rules: [ids.NL_BSN], sample: "111222333", isDefault: false },
  pl_pesel: { word: "PL_PESEL", rules: [ids.PL_PESEL], sample: "44051401359", isDefault: true },
  ch_ahv: { word: "CH_AHV", rules: [ids.CH_AHV], sample: "756.9217.0769.85", isDefault: true },
  se_personnummer: {
    word: "SE_PNR",
    rules: [ids.SE_PERSONNUMMER],
    sample: "811228-9874",
    isDefault: true,
  },
  br_cpf: { word: "BR_CPF", rules: [ids.BR_CPF], sample: "529.982.247-25", isDefault: true },
  be_national: {
    word: "BE_NN",
    rules: [ids.BE_NATIONAL],
    sample: "85.07.30-033.28",
    isDefault: true,
  },
} as const satisfies Readonly<Record<string, Entity>>;

/** The name of a kind. */
export type EntityName = keyof typeof ENTITIES;

/** All names, in the order of the documentation. */
export const ENTITY_NAMES = Object.keys(ENTITIES) as EntityName[];
