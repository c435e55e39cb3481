/**
 * What a test asks of the mock database itself, said as a comment where SQL is said, so that any driver can send it:
 * `/* moirai reset *\/`. The same words are paths of the HTTP interface.
 */
import { SqlError } from '../../sql/model/index.ts';

export type AdminCommand =
  /** Empties the database: no tables, no history; open transactions end. */
  | { readonly kind: 'reset' }
  /** What is stored now is the initial state; the history and the choices begin here. */
  | { readonly kind: 'start' }
  /** The decisions of another run. */
  | { readonly kind: 'seed'; readonly seed: number }
  /** The level of transactions that do not name one: a level of the axioms, or SQL's name of an engine's level. */
  | { readonly kind: 'level'; readonly level: string }
  /** Does this session read what a serializable observer of the end reads? For checkers; such reads are not in the history. */
  | { readonly kind: 'strong-reads'; readonly isOn: boolean }
  /** The history so far as JSON Lines, a row a line. */
  | { readonly kind: 'history' }
  /** The choices so far, for `--replay`. */
  | { readonly kind: 'choices' };

const comment = /^\s*\/\*\s*moirai\b([\s\S]*?)\*\/\s*;?\s*$/i;

/** The command in a text that is nothing but such a comment; `null`: it is SQL. @throws SqlError 42601 for an unknown command */
export function adminCommandOf(sql: string): AdminCommand | null {
  if (!sql.includes('moirai')) return null;
  const words = comment.exec(sql)?.[1];
  return words === undefined ? null : parseAdminCommand(words);
}

/** @throws SqlError 42601 */
export function parseAdminCommand(words: string): AdminCommand {
  const text = words.trim().toLowerCase().replace(/\s+/g, ' ');
  const [first = '', ...rest] = text.split(' ');
  const argument = rest.join(' ');
  if ((first === 'reset' || first === 'start' || first === 'history' || first === 'choices') && argument === '')
    return { kind: first };
  if (first === 'seed' && /^-?\d{1,15}$/.test(argument)) return { kind: 'seed', seed: Number(argument) };
  if (first === 'level' && argument !== '') return { kind: 'level', level: argument };
  if (text === 'strong reads on' || text === 'strong reads off')
    return { kind: 'strong-reads', isOn: text.endsWith('on') };
  throw new SqlError('42601', `moirai knows no command "${text}"`, {
    hint: 'reset, start, seed N, level NAME, strong reads on, strong reads off, history, choices',
  });
}
