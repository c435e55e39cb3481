/**
 * Uncommitted changes of the catalog, which only their session sees. The maps hold what one session sees; before another one looks, the changes of the
 * first are taken out and its own are made again, over what has been committed meanwhile.
 */
interface Change {
  readonly map: Map<string, unknown>;
  readonly name: string;
  readonly make: Make;
  /** `undefined`: nothing. */
  before: unknown;
  after: unknown;
}

/** What a name stands for after a change, by what it stands for before; `undefined`: nothing. */
type Make = (before: unknown) => unknown;

export class UncommittedChanges {
  readonly #bySession = new Map<number, Change[]>();
  #session: number | null = null;

  /** @returns undoes it */
  change(map: Map<string, unknown>, name: string, make: Make): () => void {
    const change: Change = { map, name, make, before: undefined, after: undefined };
    makeAgain(change);
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
    for (const change of own) makeAgain(change);
    return before.length + own.length > 0;
  }

  /** Has a session made changes that the one that looks does not see? */
  get areHidden(): boolean {
    return [...this.#bySession].some(([session, changes]) => session !== this.#session && changes.length > 0);
  }

  /** What other sessions than the one that looks have put under names of the map. */
  *hidden(map: ReadonlyMap<string, unknown>): Iterable<{ readonly name: string; readonly value: unknown }> {
    for (const [session, changes] of this.#bySession) {
      if (session === this.#session) continue;
      for (const { map: own, name, after: value } of changes)
        if (own === map && value !== undefined) yield { name, value };
    }
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

function makeAgain(change: Change): void {
  const { map, name, make } = change;
  change.before = map.get(name);
  change.after = make(change.before);
  put(map, name, change.after);
}

function put(map: Map<string, unknown>, name: string, value: unknown): void {
  if (value === undefined) map.delete(name);
  else map.set(name, value);
}
