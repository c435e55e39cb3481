/**
 * Everyday applications, read from source: what conditions ask of rows is in the rows of the witness, and what the schema or the code prevents is no finding.
 * Those of `everyday-applications.ts` take minutes; all of them run with MOIRAI_HEAVY=1.
 */
import { describe, expect, test } from 'vitest';
import { analyze } from '../src/analyze/index.ts';
import { changesText } from '../src/analyze/changes.ts';
import { applicationFromSource, loadTypeScript } from '../src/analyze/source/index.ts';
import { conclude } from '../src/evidence/index.ts';
import { type EverydayApplication, everydayApplications } from './support/everyday-applications.ts';
import { checkingApplications } from './support/checking-applications.ts';
import { expectReplay } from './support/replayed-anomaly.ts';

const ts = await loadTypeScript();
const isHeavy = process.env['MOIRAI_HEAVY'] === '1';

async function expectFindings({ schema, source, verdict, confirmed }: EverydayApplication, replays: boolean) {
  const files = new Map([['app.ts', source]]);
  const application = applicationFromSource({ ts, files, schema, dialect: 'postgres' });
  const { anomalies, unitAnomalies, notUnderstood, evidence } = await analyze(application, {
    isolation: 'read committed',
  });
  expect(notUnderstood).toEqual([]);
  const found = [...anomalies, ...unitAnomalies].filter(({ status }) => status.kind === 'confirmed');
  expect(found.map(({ transactions, fix }) => [transactions.join(' with '), changesText(fix?.changes ?? [])])).toEqual(
    confirmed,
  );
  expect(conclude(evidence).kind).toBe(verdict);
  if (replays) for (const one of found) await expectReplay(one);
}

describe('everyday applications', () => {
  const few = new Set(['a job queue with SKIP LOCKED', 'coupons', 'bookings up to a capacity']);
  const all = everydayApplications.filter(({ name }) => isHeavy || few.has(name));
  test.each(all)('$name', { timeout: 600_000 }, (one) => expectFindings(one, isHeavy));
});

describe('applications that check before they write', () => {
  test.each(checkingApplications)('$name', { timeout: 120_000 }, (one) => expectFindings(one, true));
});
