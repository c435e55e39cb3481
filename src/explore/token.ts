/**
 * The choices of a replay token by name: the transactions of a history in order, each with the transactions that its external reads saw.
 * `adder/0:_+remover/0:adder/0+reader/0:remover/0`: `_` is the initial state. Names that are not words are percent-encoded.
 */
import { InputError } from '../base/index.ts';
import type { Program } from '../program/index.ts';
import { indexOf, INITIAL_STATE, nameOf, type Prefix, sessionOf, type TransactionName } from './ordered-history.ts';

export function encodePrefix(prefix: Prefix, { sessionNames }: Program): string {
  const text = (name: TransactionName): string =>
    name === INITIAL_STATE ? '_' : `${encodeURIComponent(sessionNames[sessionOf(name)] ?? '')}/${indexOf(name)}`;
  return prefix
    .map(({ name, sources }) => [text(name), ...(sources.length === 0 ? [] : [sources.map(text).join(',')])].join(':'))
    .join('+');
}

/** @throws InputError `replay/token` */
export function decodePrefix(token: string, { sessionNames }: Program): Prefix {
  const nameIn = (text: string): TransactionName => {
    const match = /^(?<session>[^/]+)\/(?<index>\d{1,5})$/.exec(text);
    const session = sessionNames.indexOf(decode(match?.groups?.['session'] ?? ''));
    if (match === null || session < 0) throw badToken(token, `"${text}" names no transaction of this program`);
    return nameOf(session, Number(match.groups?.['index']));
  };
  const prefix = token.split('+').map((part) => {
    const [name = '', sources] = part.split(':');
    return {
      name: nameIn(name),
      sources: sources?.split(',').map((text) => (text === '_' ? INITIAL_STATE : nameIn(text))) ?? [],
    };
  });
  prefix.forEach(({ name, sources }, position) => {
    const before = new Set(prefix.slice(0, position).map((earlier) => earlier.name));
    if (before.has(name)) throw badToken(token, 'a transaction is there twice');
    if (indexOf(name) > 0 && !before.has(name - 1)) throw badToken(token, 'a transaction is missing in its session');
    if (!sources.every((source) => source === INITIAL_STATE || before.has(source)))
      throw badToken(token, 'a read sees a later transaction');
  });
  return prefix;
}

function decode(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return '';
  }
}

function badToken(token: string, why: string): InputError {
  return new InputError('replay/token', `"${token}" is not a replay token of explore: ${why}`);
}
