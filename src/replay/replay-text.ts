/** What a replay on a real server shows, as text and as JSON. */
import { profileText } from '../database/index.ts';
import { formatTable, plain, printable, type Style, type Styler, truncate, wrap } from '../report/index.ts';
import { statementLine } from '../sql/index.ts';
import type { ReplayedLevel, ReplayedOn } from './replay.ts';
import type { Compared, Verdict } from './verdict.ts';

export interface ReplayedText {
  readonly style?: Styler;
  readonly width?: number;
}

export function formatReplayedOn(
  { server, leftOver, prediction, levels }: ReplayedOn,
  { style = plain, width = 80 }: ReplayedText = {},
): string {
  const predicted = `predicted on ${profileText(prediction.profile)}: ${prediction.message}`;
  return [
    ...wrap(printable(predicted), width),
    ...levels.flatMap((level) => [
      '',
      ...formatVerdict(server, level, style, width),
      '',
      ...formatStatements(level.statements, width, server),
    ]),
    ...(leftOver.length === 0 ? [] : ['', ...wrap(printable(leftOverText(leftOver)), width)]),
  ].join('\n');
}

export function leftOverText(databases: readonly string[]): string {
  return `left behind by replays of another user that were killed: ${databases.join(', ')}; their owner's next replay drops them`;
}

function formatVerdict(server: string, level: ReplayedLevel, style: Styler, width: number): string[] {
  const { verdict, counts } = level;
  const all = Object.entries(counts).filter(([, count]) => count > 0);
  const runs = all.reduce((sum, [, count]) => sum + count, 0);
  const often = runs === 1 ? '' : ` (${all.map(([kind, count]) => `${kind} in ${count} of ${runs} runs`).join(', ')})`;
  const [first = '', ...rest] = wrap(
    printable(`${verdict.kind} on ${server}, ${levelText(level)}${often}: ${verdictText(verdict)}`),
    width,
  );
  return [first.replace(verdict.kind, style(styles[verdict.kind], verdict.kind)), ...rest];
}

/** The level is that of transactions that name none. */
function levelText({ isolation, statements }: ReplayedLevel): string {
  const named = statements.some(({ sql }) => /\bisolation\s+level\b/i.test(sql));
  return named ? `at the levels that the transactions name (others: ${isolation})` : isolation;
}

const styles: Readonly<Record<Verdict['kind'], Style>> = {
  observed: 'bad',
  prevented: 'good',
  infeasible: 'good',
  diverged: 'warning',
};

export function verdictText(verdict: Verdict): string {
  switch (verdict.kind) {
    case 'observed':
      return `${verdict.message}; no order of whole sessions leaves this`;
    case 'prevented':
      return `session "${verdict.session}" ${verdict.code === null ? '' : `got ${verdict.code} `}${verdict.message}: ${statementLine(verdict.sql)}`;
    case 'infeasible': {
      const by = verdict.by.length === 0 ? '' : `, held by ${verdict.by.map((name) => `"${name}"`).join(', ')}`;
      return `session "${verdict.session}" waits for ${verdict.lock}${by}: ${statementLine(verdict.sql)}`;
    }
    case 'diverged':
      return statementLine(verdict.reason);
  }
}

/** A line a statement: what was predicted, what the server answered. */
function formatStatements(statements: readonly Compared[], width: number, server: string): string[] {
  const [widthOfSql, widthOfAnswer] = [Math.floor(width * 0.4), Math.floor(width * 0.22)];
  const cells = statements.map(({ session, sql, predicted, server: answer, waited }) => [
    printable(session),
    truncate(printable(statementLine(sql)), widthOfSql),
    truncate(printable(predicted ?? 'not predicted'), widthOfAnswer),
    truncate(
      printable(`${answer ?? 'not sent'}${waited === null ? '' : ` after a wait for ${waited}`}`),
      widthOfAnswer,
    ),
  ]);
  return formatTable([['session', 'statement', 'predicted', server], ...cells]);
}

/** Of all levels: what the exit code says. */
export function verdictOfLevels({ levels }: ReplayedOn): 'observed' | 'not-observed' | 'diverged' {
  const has = (kind: Verdict['kind']): boolean => levels.some(({ counts }) => counts[kind] > 0);
  if (has('observed')) return 'observed';
  return has('diverged') ? 'diverged' : 'not-observed';
}

export function replayedOnJson({ server, leftOver, prediction, levels }: ReplayedOn): object {
  const { isolation, message, token } = prediction;
  return {
    server,
    leftOver,
    predicted: { isolation, message, replay: token },
    levels: levels.map(({ isolation: level, verdict, counts, statements }) => ({
      isolation: level,
      verdict: verdict.kind,
      ...verdict,
      kind: undefined,
      counts,
      statements,
    })),
  };
}
