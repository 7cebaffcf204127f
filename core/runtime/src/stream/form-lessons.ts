/** Learns the form of a stream's events from those that are translated, as long as it is of use. */

import type { EventForm, Frame, FrameRole } from "@sluice/contract";
import { StreamForm } from "@sluice/kit/internals";

/**
 * Events from which a form may be learnt in vain, and events read by their form that allow one
 * more.
 */
const FREE_LESSONS = 16;
const EVENTS_FOR_A_LESSON = 8;

/** The form of one stream's events at this moment. */
export class FormLessons {
  form: StreamForm | undefined;
  /** Events that were read by their form. */
  repeated = 0;
  /** The form that the present event declared. */
  declared: EventForm | undefined;
  #frames = 0;
  #lessons = 0;

  /**
   * Begins an event that has no known form. Returns whether its form is of use: an event that came
   * in pieces keeps the last form, and gives none.
   */
  begin(wire: string | undefined): boolean {
    this.declared = undefined;
    this.#frames = 0;
    if (wire === undefined && this.form === undefined) return false;
    return this.#lessons <= FREE_LESSONS + this.repeated / EVENTS_FOR_A_LESSON;
  }

  /**
   * Adds a frame of the present event. The role before the first content is written once: events
   * like that one do not have it.
   */
  add(role: FrameRole, isCommitted: boolean): void {
    if (role !== "preamble" || isCommitted) this.#frames++;
  }

  /** Forgets the form: an event that declares none may change what the translator does next. */
  drop(): void {
    this.form = undefined;
  }

  /** Ends an event. `frame`: the last one of the stream. */
  end(data: string, wire: string | undefined, frame: Frame | undefined): void {
    const { declared } = this;
    if (declared === undefined || this.#frames !== 1 || frame === undefined) {
      this.drop();
      return;
    }
    if (wire === undefined || frame.raw === undefined) return;
    this.#lessons++;
    this.form = StreamForm.of({ wire, data, raw: frame.raw, form: declared }) ?? this.form;
  }
}
