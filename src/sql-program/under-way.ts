/**
 * What runs at the moment, in words: `the schema`, `session "a"`, `the invariant`, with the check for which the run is made. For those who
 * end it: a run that does not end, or that never gives the thread back.
 */
export class UnderWay {
  #part: () => string = () => 'the schema';
  #check: string | null = null;

  get text(): string {
    return this.#check === null ? this.#part() : `${this.#check} (${this.#part()})`;
  }

  /** A part of a run begins. */
  begin(part: () => string): void {
    this.#part = part;
  }

  /** @param check `the serial check`: runs that it makes are said to be of it */
  async during<T>(check: string, work: () => Promise<T>): Promise<T> {
    this.#check = check;
    try {
      return await work();
    } finally {
      this.#check = null;
    }
  }
}
