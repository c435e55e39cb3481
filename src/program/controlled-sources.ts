/**
 * A program under sources of randomness and time that give the same values in every run: its runs are functions of their choices. Who calls a
 * source costs every promise of the process something, so it is looked for from the first call on, and the run of that call is made anew.
 */
import {
  beginTrials,
  isForcible,
  isOutside,
  type SourceUser,
  type SourceWatch,
  Trial,
  watchSources,
} from './sources.ts';

export class ControlledSources<P extends SourceUser> {
  /** The one to run. */
  readonly program: P;
  readonly #trial = new Trial();
  readonly #within: P;
  #isOn = false;
  #watch: SourceWatch | null = null;
  #endTrials: () => void = () => {};
  #called = false;

  /** @param original for whom sources are replaced from `begin` to `end` */
  constructor(original: P) {
    this.#within = this.#trial.around(original);
    const either =
      <A extends unknown[], R>(within: (...args: A) => R, plain: (...args: A) => R) =>
      (...args: A): R =>
        this.#isOn ? within(...args) : plain(...args);
    this.program = {
      ...original,
      sessions: original.sessions.map((body, i) => either(this.#within.sessions[i] ?? body, body)),
      invariant: either(this.#within.invariant, original.invariant),
    };
  }

  /** @param control whether who calls is looked for from now on, or from the first call on */
  begin(control: 'now' | 'when-called'): void {
    this.#watch ??= watchSources();
    if (control === 'now') this.#turnOn();
  }

  end(): void {
    this.#isOn = false;
    this.#endTrials();
    this.#watch?.stop();
    this.#watch = null;
  }

  /** @param run runs the program, from its beginning: twice where the first call of a source comes in it */
  async made<T>(run: () => Promise<T>): Promise<T> {
    if (this.#watch === null) return run();
    const before = this.#trial.calls;
    this.#watch.wereCalled();
    let made = await run();
    if (!this.#isOn && this.#watch.wereCalled()) {
      this.#turnOn();
      made = await run();
    }
    this.#called = this.#trial.calls > before;
    return made;
  }

  /** Did the program call a source in what was made last? */
  get wereCalled(): boolean {
    return this.#called;
  }

  /** What a verdict takes for granted, as clauses. */
  assumed(): string[] {
    const calls = (which: (source: string) => boolean): string[] =>
      this.#trial
        .sources()
        .filter(which)
        .flatMap((source) => this.#trial.callsOf(source));
    return [
      ...calls(isForcible).map((call) => `with other values of ${call} the program would do the same`),
      ...calls(isOutside).map((call) => `what ${call} reaches is no part of the program`),
      ...this.#trial.timers.neverFired().map((timer) => `${timer} never fires while the sessions run`),
    ];
  }

  #turnOn(): void {
    if (this.#isOn) return;
    this.#isOn = true;
    this.#endTrials = beginTrials();
  }
}
