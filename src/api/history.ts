/**
 * `moirai/history`: what sessions read and wrote, transaction by transaction, and the formats in which histories are kept.
 *
 * A history has its sessions by name, its transactions in the order of each session, and the initial values of keys. A read may name the
 * transaction whose write it saw (`from`); else the value tells. Times are optional: only `strict-serializable` needs them.
 *
 * @example
 * ```ts
 * import { formatHistory, parseHistory, readHistory, writeHistory } from 'moirai/history';
 *
 * const history = parseHistory('w x 1\nr x 1, w x 2');
 * console.log(history.sessions.join(), history.transactions[1]?.operations.length);
 * // prints: 0,1 2
 * const bytes = writeHistory(history, 'jsonl');
 * console.log(formatHistory(await readHistory(bytes)) === formatHistory(history));
 * // prints: true
 * ```
 * @module
 */
export {
  defaultId,
  formatHistory,
  formatHistoryLines,
  historyFormatNames,
  INITIAL,
  parseHistory,
  parseHistoryLines,
  readHistory,
  writeHistory,
  type History,
  type Key,
  type Operation,
  type Read,
  type ReadHistoryOptions,
  type Status,
  type Transaction,
  type TransactionIndex,
  type Value,
  type Write,
} from '../history/index.ts';
