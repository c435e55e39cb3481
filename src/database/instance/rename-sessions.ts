/** Histories of servers number their sessions; where those have names, the names are what people look for. */
import { defaultId, type History } from '../../history/index.ts';

/** Sessions without writes and reads fall away. */
export function renamed(history: History, names: ReadonlyMap<string, string>): History {
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
