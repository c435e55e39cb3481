/** What is called confirmed runs again, and holds with its change. */
import { expect } from 'vitest';
import { witnessProgram } from '../../src/analyze/index.ts';
import type { Anomaly } from '../../src/analyze/anomaly.ts';
import { exploreSql } from '../../src/explore/sql/index.ts';

/** Its program shows it again, and its change is proven. */
export async function expectReplay({ status, fix }: Anomaly): Promise<void> {
  if (status.kind !== 'confirmed') throw new Error(`it is not confirmed: ${status.reason}`);
  const { dialect } = status.program;
  const isolation = dialect === 'mysql' ? 'repeatable read' : 'read committed';
  const profile = { family: 'engine', engine: dialect, dialect, isolation } as const;
  const again = await exploreSql(witnessProgram(status.program), { profile, schedulesMax: 200 });
  expect(again.violations).toBeGreaterThan(0);
  expect(fix).toMatchObject({ isProven: true });
}
