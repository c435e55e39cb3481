/** What became of the planted bugs, as a table and in figures. */
import type { PlantedBug } from './planted-bug.ts';

export type Outcome =
  | { readonly kind: 'caught'; readonly by: string }
  | { readonly kind: 'survives' }
  /** Tests that it keeps from ending; no other fails. */
  | { readonly kind: 'no end'; readonly in: readonly string[] }
  /** Fails, or does not end, without the bug. */
  | { readonly kind: 'broken test'; readonly test: string };

export interface Result {
  readonly bug: PlantedBug;
  readonly outcome: Outcome;
}

export const tableHead = '| bug | file | caught by |\n| --- | --- | --- |';

export function formatRow({ bug, outcome }: Result): string {
  return `| ${[bug.name, bug.file, cellOf(outcome)].map((cell) => cell.replaceAll('|', '\\|')).join(' | ')} |`;
}

function cellOf(outcome: Outcome): string {
  switch (outcome.kind) {
    case 'caught':
      return outcome.by;
    case 'survives':
      return '**survives**';
    case 'no end':
      return `**no end** in ${outcome.in.join(', ')}`;
    case 'broken test':
      return `**not run**: without the bug ${outcome.test}`;
  }
}

/** An endless loop is caught by what it keeps from ending; what keeps other tests from ending is neither caught nor survives. */
export function formatSummary(results: readonly Result[]): string {
  const names = (kind: Outcome['kind']): string[] =>
    results.filter(({ outcome }) => outcome.kind === kind).map(({ bug }) => bug.name);
  const lines = [
    ['survive', names('survives')],
    ['no end', names('no end')],
    ['not run', names('broken test')],
  ] as const;
  const listed = lines.filter(([, list]) => list.length > 0);
  return [
    `${names('caught').length} of ${results.length} caught`,
    ...listed.map(([what, list]) => `${what}: ${list.length} (${list.join('; ')})`),
  ].join('\n');
}

/** More than one in twenty survives, or a test fails without a bug. */
export function isFailure(results: readonly Result[]): boolean {
  const survivors = results.filter(({ outcome }) => outcome.kind === 'survives').length;
  return 20 * survivors > results.length || results.some(({ outcome }) => outcome.kind === 'broken test');
}
