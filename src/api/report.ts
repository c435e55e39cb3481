/**
 * `moirai/report`: verdicts and histories as text and as drawings, and the one rule by which every tool comes to its verdict.
 *
 * @example
 * ```ts
 * import { weakestViolation } from 'moirai/check';
 * import { parseHistory } from 'moirai/history';
 * import { drawHistory, formatCycle, formatMermaid } from 'moirai/report';
 *
 * const history = parseHistory('r x _, w x 1\nr x _, w x 2');
 * const found = weakestViolation(history);
 * if (found !== null) console.log(formatCycle(history, found.verdict).join('\n'));
 * // prints: .-> 0/0 reads x = null, which 1/0 overwrites (rw)
 * // prints: '-- 1/0 reads x = null, which 0/0 overwrites (rw)
 * console.log(formatMermaid([drawHistory(history, 'a lost update')]).split('\n')[1]);
 * // prints: title: "a lost update"
 * ```
 *
 * @example
 * ```ts
 * import { explore } from 'moirai/explore';
 * import { program } from 'moirai/program';
 * import { conclude, gapText } from 'moirai/report';
 *
 * const silent = program({ sessions: { a: (session) => session.write('x', 1), b: () => 'nothing' } });
 * const conclusion = conclude((await explore(silent)).evidence);
 * if (conclusion.kind === 'unknown') console.log(conclusion.gaps.slice(0, 1).map(gapText).join());
 * // prints: session "b" sent no operation
 * ```
 * @module
 */
import type { History } from '../history/index.ts';
import { type CycleDrawing, drawHistory as draw } from '../report/index.ts';

export { conclude, gapText, type Conclusion, type Gap } from '../evidence/index.ts';
// What tools looked at: `conclude` makes the verdict of it.
export type {
  AnswerEvidence,
  Asks,
  Evidence,
  InvariantEvidence,
  JudgedAgainEvidence,
  Looked,
  Loss,
  RolledBack,
  SessionEvidence,
  StatementEvidence,
  UnsupportedStatement,
} from '../evidence/index.ts';
export {
  formatCycle,
  formatDot,
  formatMermaid,
  formatSessions,
  plain,
  type CycleDrawing,
  type SessionsOptions,
  type Style,
  type Styler,
} from '../report/index.ts';

/**
 * A history as a graph for `formatDot` and `formatMermaid`: a node for each transaction with its operations, an edge for each read of another
 * transaction's write, and the cycle of the weakest level that forbids the history. For histories of up to some hundred transactions.
 * @param title above the graph
 */
export function drawHistory(history: History, title: string): CycleDrawing {
  return draw(history, title, 'ignored');
}
