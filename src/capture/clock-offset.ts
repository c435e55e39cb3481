/**
 * How far this machine's clock is from a reference, with a bound that is certain: Cristian, "Probabilistic clock synchronization",
 * Distributed Computing 3, 1989. The reference was read somewhere between a question and its answer, so the offset lies in an interval as long
 * as the round trip; intervals of several questions, each made wider by what clocks drift apart since, are intersected.
 */
export interface ClockOffsetOptions {
  /** How much the two clocks may drift apart, as a share of the time that passes. Default 0.0002: twice what crystals are off at most. */
  readonly drift?: number;
}

/** Nanoseconds of a clock that has run for months are integers at the end of what a double can tell apart. */
const rounding = 8;

export class ClockOffset {
  readonly #drift: number;
  #low = -Infinity;
  #high = Infinity;
  /** The local time at which the interval above was as it says. */
  #at = 0;
  #last = -Infinity;

  constructor({ drift = 0.0002 }: ClockOffsetOptions = {}) {
    this.#drift = drift;
  }

  /**
   * A question and its answer, in local time; `reference` was the other clock's in between.
   * @returns false: it contradicts what was known, so a clock has jumped; from now on only this answer counts
   */
  sample(sent: number, received: number, reference: number): boolean {
    const wider = this.#drift * (received - this.#at);
    const own = this.#drift * (received - sent);
    const low = Math.max(this.#low - wider, reference - received - own);
    const high = Math.min(this.#high + wider, reference - sent + own);
    this.#at = received;
    if (low <= high) {
      this.#low = low;
      this.#high = high;
      return true;
    }
    this.#low = reference - received - own;
    this.#high = reference - sent + own;
    return false;
  }

  /** The most that `reference(local)` may be off. Infinity before the first sample. */
  error(local: number): number {
    if (this.#high === Infinity) return Infinity;
    const ahead = Math.max(0, this.#last - local - (this.#high + this.#low) / 2);
    return (this.#high - this.#low) / 2 + this.#drift * Math.max(0, local - this.#at) + ahead + rounding;
  }

  /**
   * The reference's time, as an integer. Never goes back: an estimate that is behind an earlier one is moved up to it, and is then off by no
   * more than that was, since the true time has not gone back either.
   */
  reference(local: number): number {
    this.#last = Math.max(this.#last, Math.round(local + (this.#low + this.#high) / 2));
    return this.#last;
  }
}
