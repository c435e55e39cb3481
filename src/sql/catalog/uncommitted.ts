/**
 * Uncommitted changes of the catalog, which only their session sees. The maps hold what one session sees; before another one looks, the changes of the
 * first are taken out and its own are put in.
 */
interface Change {
  readonly map: Map<string, unknown>;
  readonly name: string;
  /** `undefined`: removed. */
  readonly after: unknown;
  before: unknown;
}

export class UncommittedChanges {
  readonly #bySession = new Map<number, Change[]>();
  #session: number | null = null;

  /** @returns undoes it */
  change(map: Map<string, unknown>, name: string, after: unknown): () => void {
    const change: Change = { map, name, after, before: map.get(name) };
    put(map, name, after);
    const session = this.#session;
    if (session !== null) this.#bySession.set(session, [...this.#of(session), change]);
    return () => {
      put(map, name, change.before);
      if (session !== null)
        this.#bySession.set(
          session,
          this.#of(session).filter((each) => each !== change),
        );
    };
  }

  /** @returns does the session see another catalog than the one that looked before? */
  lookAs(session: number): boolean {
    if (session === this.#session) return false;
    const before = this.#session === null ? [] : this.#of(this.#session);
    this.#session = session;
    const own = this.#of(session);
    for (const change of before.toReversed()) put(change.map, change.name, change.before);
    for (const change of own) {
      change.before = change.map.get(change.name);
      put(change.map, change.name, change.after);
    }
    return before.length + own.length > 0;
  }

  /** Has a session made changes that the one that looks does not see? */
  get areHidden(): boolean {
    return [...this.#bySession].some(([session, changes]) => session !== this.#session && changes.length > 0);
  }

  /** Has a session put something under this name that the one that looks does not see? */
  isHidden(map: ReadonlyMap<string, unknown>, name: string): boolean {
    return [...this.#bySession].some(
      ([session, changes]) =>
        session !== this.#session &&
        changes.some((change) => change.map === map && change.name === name && change.after !== undefined),
    );
  }

  get areNone(): boolean {
    return [...this.#bySession.values()].every((changes) => changes.length === 0);
  }

  /** They are committed: every session sees them. */
  committed(session: number): void {
    this.#bySession.delete(session);
  }

  #of(session: number): readonly Change[] {
    return this.#bySession.get(session) ?? [];
  }
}

function put(map: Map<string, unknown>, name: string, value: unknown): void {
  if (value === undefined) map.delete(name);
  else map.set(name, value);
}
