/** What schedules on a real server came to, as text and as JSON. */
import { counted, formatCount, formatTable, plain, printable, type Styler, truncate, wrap } from '../report/index.ts';
import { statementLine } from '../sql/index.ts';
import type { ExploredOn, ServerFailure } from './explore-on.ts';
import { leftOverText, type ReplayedText } from './replay-text.ts';

export function verdictOfExplored({ failing, stopped, missing }: ExploredOn): 'violated' | 'satisfied' | 'unknown' {
  if (failing > 0) return 'violated';
  return stopped === null && missing === null ? 'satisfied' : 'unknown';
}

export function formatExploredOn(explored: ExploredOn, { style = plain, width = 80 }: ReplayedText = {}): string {
  const { outcomes, assumed, missing, leftOver, failures, server } = explored;
  const notes = [
    `distinct outcomes ${formatCount(outcomes)}`,
    ...(missing === null ? [] : [`missing: ${missing}`]),
    ...(assumed === null ? [] : [`assumed: ${assumed}`]),
    ...(leftOver.length === 0 ? [] : [leftOverText(leftOver)]),
  ];
  return [
    ...formatVerdict(explored, style, width),
    ...failures.flatMap((failure) => ['', ...formatFailure(failure, server, width)]),
    '',
    ...notes.flatMap((note) => wrap(printable(note), width)),
  ].join('\n');
}

const styles = { violated: 'bad', satisfied: 'good', unknown: 'warning' } as const;

function formatVerdict(explored: ExploredOn, style: Styler, width: number): string[] {
  const kind = verdictOfExplored(explored);
  const { server, isolation } = explored;
  const [first = '', ...rest] = wrap(
    printable(`${kind} on ${server}, ${isolation}: ${schedulesText(explored)}`),
    width,
  );
  return [first.replace(kind, style(styles[kind], kind)), ...rest];
}

function schedulesText({ schedules, failing, stopped, isRandom }: ExploredOn): string {
  const all = counted(schedules, isRandom ? 'random schedule' : 'schedule');
  const more = stopped === null ? '' : ` (not all were run: ${stopped})`;
  if (failing > 0) return `${formatCount(failing)} of ${all} ${failing === 1 ? 'fails' : 'fail'}${more}`;
  return schedules === 0 ? `no schedule was run${more}` : `${all} satisfy the invariant${more}`;
}

/** A line a statement of the first schedule that ends with this message. */
function formatFailure(
  { message, schedules, seed, statements }: ServerFailure,
  server: string,
  width: number,
): string[] {
  const [widthOfSql, widthOfAnswer] = [Math.floor(width * 0.5), Math.floor(width * 0.3)];
  const cells = statements.map(({ session, sql, answer, waited }) => [
    printable(session),
    truncate(printable(statementLine(sql)), widthOfSql),
    truncate(printable(`${answer}${waited === null ? '' : ` after a wait for ${waited}`}`), widthOfAnswer),
  ]);
  const again = seed === null ? '' : `; --seed ${seed} --runs 1 runs it again`;
  return [
    ...wrap(printable(`in ${counted(schedules, 'schedule')}: ${message}${again}`), width),
    '',
    ...formatTable([['session', 'statement', server], ...cells]),
  ];
}

export function exploredOnJson(explored: ExploredOn): object {
  const {
    server,
    isolation,
    schedules,
    repetitions,
    outcomes,
    failing,
    failures,
    stopped,
    missing,
    assumed,
    leftOver,
  } = explored;
  return {
    server,
    isolation,
    verdict: verdictOfExplored(explored),
    schedules,
    repetitions,
    outcomes,
    violations: failing,
    complete: stopped === null,
    stopped,
    missing,
    assumed,
    leftOver,
    failures,
  };
}
