/** A cycle in the words of the developer: `each saw no row in migrations_lock where is_locked = 1, each inserted one`. */
import type { History, Key, Operation, TransactionIndex } from '../history/index.ts';
import type { Edge } from '../isolation/index.ts';

type Names = (t: TransactionIndex) => string;

/** @param isBySession is all that a session did one part of the cycle? */
export function causeText(history: History, cycle: readonly Edge[], isBySession: boolean): string {
  const names = namesIn(history, cycle, isBySession);
  const parts = cycle.map((edge) => partOf(history, edge, names));
  const [first, second] = parts;
  if (first !== undefined && second !== undefined && parts.length === 2) {
    const isMutual = cycle.every(({ relation }) => relation === 'rw');
    const isSame = first.saw === second.saw && first.did === second.did;
    if (isMutual && isSame) return `each ${first.saw}, each ${first.did}`;
    const known = lostUpdateText(cycle, names) ?? metText(history, cycle, names);
    if (known !== null) return known;
  }
  return parts.map(({ text }) => text).join('; ');
}

/** rw and ww of one key. */
function lostUpdateText(cycle: readonly Edge[], names: Names): string | null {
  const rw = cycle.find(({ relation }) => relation === 'rw');
  const ww = cycle.find(({ relation }) => relation === 'ww');
  if (rw?.key === undefined || rw.key !== ww?.key) return null;
  const [reader, writer] = [names(rw.from), names(rw.to)];
  return `${reader} read ${rw.key}, ${writer} wrote it, and ${reader} wrote it without having seen that`;
}

/** rw and wr of one key: it was not there, and then it was. */
function metText(history: History, cycle: readonly Edge[], names: Names): string | null {
  const rw = cycle.find(({ relation }) => relation === 'rw');
  const wr = cycle.find(({ relation }) => relation === 'wr');
  if (rw?.key === undefined || rw.key !== wr?.key || rw.condition === undefined) return null;
  return `${partOf(history, rw, names).text}, and ${names(wr.to)} then found it`;
}

interface Part {
  readonly saw: string;
  readonly did: string;
  readonly text: string;
}

function partOf(history: History, edge: Edge, names: Names): Part {
  const [from, to] = [names(edge.from), names(edge.to)];
  const { key = '' } = edge;
  switch (edge.relation) {
    case 'rw': {
      const read = operationAt(history, edge.from, edge.operation);
      const saw = sawText(key, read);
      const did = didText(history, edge.to, key, read);
      return { saw, did, text: `${from} ${saw}, ${to} ${did}` };
    }
    case 'wr':
      return { saw: '', did: '', text: `${to} saw what ${from} wrote to ${key}` };
    case 'ww':
      return { saw: '', did: '', text: `${to} overwrote what ${from} wrote to ${key}` };
    case 'so':
      return { saw: '', did: '', text: `${to} came after ${from} in its session` };
    default:
      return { saw: '', did: '', text: `${to} came after ${from}` };
  }
}

function sawText(key: Key, read: Operation | undefined): string {
  if (read?.kind !== 'read') return `read ${key}`;
  const { value, condition } = read;
  if (condition === undefined) return value === null ? `saw no ${key}` : `read ${key}`;
  const where = condition === '' ? '' : ` where ${condition}`;
  if (typeof value === 'number')
    return `saw ${value === 0 ? 'no row' : value === 1 ? '1 row' : `${value} rows`} in ${key}`;
  if (value === null) return `saw no row in ${tableOf(key)}${where}`;
  return key.endsWith(where) ? `did not find ${key}` : `did not find ${key}${where}`;
}

function didText(history: History, writer: TransactionIndex, key: Key, read: Operation | undefined): string {
  const operations = history.transactions[writer]?.operations ?? [];
  const last = operations.findLast((each) => each.kind === 'write' && each.key === key);
  if (typeof last?.value === 'number') return last.value === 0 ? 'dropped it' : 'created one';
  if (last?.value === null) return read?.value === null ? 'wrote and deleted one' : 'deleted it';
  if (read?.value !== null) return read?.kind === 'read' && read.condition !== undefined ? 'made it match' : 'wrote it';
  return read.kind === 'read' && read.condition !== undefined ? 'inserted one' : 'inserted it';
}

function operationAt(history: History, t: TransactionIndex, operation: number | undefined): Operation | undefined {
  return history.transactions[t]?.operations[operation ?? -1];
}

/** `t/7`, `t#3`: the table. */
function tableOf(key: Key): string {
  return key.replace(/[/#].*$/s, '');
}

/** By their sessions; by their IDs where a session has several transactions in the cycle and those are not one. */
function namesIn({ sessions, transactions }: History, cycle: readonly Edge[], isBySession: boolean): Names {
  const involved = [...new Set(cycle.flatMap(({ from, to }) => [from, to]))];
  const areDistinct = new Set(involved.map((t) => transactions[t]?.session)).size === involved.length;
  if (isBySession || areDistinct)
    return (t) => sessionName(sessions[transactions[t]?.session ?? -1] ?? 'the initial state');
  return (t) => transactions[t]?.id ?? 'the initial state';
}

/** Of the program: its second connection is called `alice#2` in histories. */
export function sessionName(connection: string): string {
  return connection.replace(/#\d+$/, '');
}
