/** `npm run conformance -- isolation`: PostgreSQL's isolation specifications on moirai and on PostgreSQL, permutation by permutation. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { startPostgres } from '../test/support/postgres-server.ts';
import type { CommandOptions } from './command.ts';
import { compare } from './compare.ts';
import { listing, signatureOf } from './difference.ts';
import { adaptations, outOfScope, stepsOutOfScope } from './isolation-scope.ts';
import { type IsolationSpec, parseIsolationSpec } from './isolation-spec.ts';
import { knownDifference } from './known-differences.ts';
import { postgresSide } from './postgres-side.ts';
import type { Schedule, Side, Step } from './schedule.ts';
import { postgresTests } from './source-package.ts';

const sessionsMax = 8;

export async function isolation({ flags, print }: CommandOptions): Promise<boolean> {
  const folder = join(postgresTests(), 'isolation', 'specs');
  const wanted = flags.get('spec');
  const out = new Set(Object.values(outOfScope).flat());
  const names = readdirSync(folder)
    .filter((name) => name.endsWith('.spec'))
    .map((name) => name.slice(0, -'.spec'.length))
    .filter((name) => (wanted === undefined ? !out.has(name) : name === wanted));
  const server = await startPostgres();
  const totals = { equal: 0, known: 0, unsupported: 0, all: 0 };
  try {
    const real = await postgresSide(server.port, { sessionsMax, planner: 'default' });
    for (const name of names) {
      const spec = inScope(name, parseIsolationSpec(adapted(name, readFileSync(join(folder, `${name}.spec`), 'utf8'))));
      const report = await runSpec(name, spec, real);
      totals.equal += report.equal;
      totals.known += report.known;
      totals.unsupported += report.unsupported;
      totals.all += spec.permutations.length;
      print(`${name.padEnd(32)} ${String(report.equal).padStart(4)} / ${spec.permutations.length}`);
      for (const [reason, count] of report.reasons) print(`    ${count}  ${reason}`);
      if (wanted !== undefined) for (const text of report.listings) print(`\n${text}`);
    }
    await real.close();
  } finally {
    await server.stop();
  }
  const share = ((100 * totals.equal) / totals.all).toFixed(1);
  print(`
${totals.equal} of ${totals.all} permutations of ${names.length} specifications are equal (${share} %);`);
  const different = totals.all - totals.equal - totals.known - totals.unsupported;
  print(`${totals.unsupported} not supported, ${totals.known} with known differences, ${different} different`);
  return different === 0;
}

function adapted(name: string, text: string): string {
  return adaptations
    .filter(({ specs }) => specs.test(name))
    .reduce((changed, { from, to }) => changed.replaceAll(from, to), text);
}

function inScope(name: string, spec: IsolationSpec): IsolationSpec {
  const out = stepsOutOfScope[name];
  if (out === undefined) return spec;
  const isOut = (step: string): boolean => spec.sessions.some(({ steps }) => out.test(steps.get(step) ?? ''));
  return { ...spec, permutations: spec.permutations.filter((steps) => !steps.some(isOut)) };
}

interface SpecReport {
  equal: number;
  known: number;
  unsupported: number;
  readonly reasons: Map<string, number>;
  readonly listings: string[];
}

async function runSpec(name: string, spec: IsolationSpec, real: Side): Promise<SpecReport> {
  const report: SpecReport = { equal: 0, known: 0, unsupported: 0, reasons: new Map(), listings: [] };
  const count = (reason: string): void => void report.reasons.set(reason, (report.reasons.get(reason) ?? 0) + 1);
  for (const permutation of spec.permutations) {
    const schedule = scheduleOf(name, spec, permutation);
    const comparison = await compare(schedule, real, { predicateReads: 'range' });
    if (comparison.kind === 'equal' || comparison.kind === 'equal by another plan') report.equal += 1;
    else if (comparison.kind === 'unsupported') {
      report.unsupported += 1;
      count(comparison.message);
    } else {
      const difference = { ...comparison, schedule };
      const known = knownDifference(difference);
      if (known !== undefined) report.known += 1;
      count(known?.row ?? signatureOf(difference));
      report.listings.push(`-- ${permutation.join(' ')}\n${listing(difference, 'PostgreSQL')}`);
    }
  }
  return report;
}

function scheduleOf(
  name: string,
  { setUp, tearDown, sessions }: IsolationSpec,
  permutation: readonly string[],
): Schedule {
  const steps = [
    ...sessions.flatMap((each, session) => each.setUp.map((sql): Step => ({ session, sql, form: 'set-up' }))),
    ...permutation.map((step): Step => {
      const session = sessions.findIndex(({ steps: own }) => own.has(step));
      const sql = sessions[session]?.steps.get(step);
      if (sql === undefined) throw new Error(`${name} has no step ${step}`);
      // Its subject is the limits of time: they end what waits.
      return { session, sql, form: step, isOrdered: /order by/i.test(sql), endsInTime: name === 'timeouts' };
    }),
    ...sessions.flatMap((each, session) => each.tearDown.map((sql): Step => ({ session, sql, form: 'teardown' }))),
  ];
  return { dialect: 'postgres', setUp, levels: sessions.map(() => 'read committed'), steps, queries: tearDown };
}
