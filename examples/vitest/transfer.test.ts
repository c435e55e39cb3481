/** A campaign as an ordinary test: `npx vitest run`. */
import { testProgram } from 'moirai';
import { expect, test } from 'vitest';
import bankTransfer from '../bank-transfer.ts';

test('withdrawals keep the accounts above zero at serializable', async () => {
  const { runs, marks } = await testProgram(bankTransfer, { level: 'serializable', runs: 500 });
  expect(runs).toBe(500);
  expect(marks.get('one of the two was refused')).toBeGreaterThan(0);
});

test('... and not at snapshot isolation', async () => {
  await expect(testProgram(bankTransfer, { level: 'snapshot-isolation' })).rejects.toThrow('write skew');
});
