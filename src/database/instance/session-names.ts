/** The names of sessions in histories: servers number them; where those have names, the names are what people look for. */
import { defaultId, type History } from '../../history/index.ts';

export class SessionNames {
  readonly #names = new Map<string, string>();

  /** Of several with one name, the second is `name#2`. */
  give(session: number, name: string): void {
    const taken = [...this.#names.values()].filter((each) => each === name || each.startsWith(`${name}#`)).length;
    this.#names.set(String(session), taken === 0 ? name : `${name}#${taken + 1}`);
  }

  /** The same in every run, whenever the session connects. Default: its number. */
  of(session: number): string {
    return this.#names.get(String(session)) ?? String(session);
  }

  /** A history of numbered sessions, by their names. */
  in(history: History): History {
    return renamed(history, this.#names);
  }
}

/** Sessions without writes and reads fall away. */
function renamed(history: History, names: ReadonlyMap<string, string>): History {
  const used = new Set(history.transactions.map(({ session }) => session));
  const kept = history.sessions
    .map((name, index) => ({ name: names.get(name) ?? name, index }))
    .filter(({ index }) => used.has(index));
  const positions = new Map(kept.map(({ index }, position) => [index, position]));
  const ordinals = kept.map(() => 0);
  const transactions = history.transactions.map((transaction) => {
    const session = positions.get(transaction.session) ?? 0;
    const ordinal = ordinals[session] ?? 0;
    ordinals[session] = ordinal + 1;
    return { ...transaction, session, id: defaultId(kept[session]?.name ?? '', ordinal) };
  });
  return { ...history, sessions: kept.map(({ name }) => name), transactions };
}
