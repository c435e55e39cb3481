/**
 * What was made of texts before, the oldest first. A text is split before it is prepared, and exploring runs the same texts thousands of
 * times, while parsing is the dearest part of a small statement.
 */
export class RecentTexts<Made> {
  readonly #known = new Map<string, Made>();

  /** @param make called for a text that is not known; what it throws is not kept */
  get(text: string, make: () => Made): Made {
    const known = this.#known.get(text);
    if (known !== undefined) return known;
    const made = make();
    if (text.length > textMax) return made;
    const [oldest] = this.#known.keys();
    if (this.#known.size >= textsMax && oldest !== undefined) this.#known.delete(oldest);
    this.#known.set(text, made);
    return made;
  }
}

const textsMax = 500;
const textMax = 2_000;
