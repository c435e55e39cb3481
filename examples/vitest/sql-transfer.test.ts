/** A SQL program as an ordinary test: the driver is the application's, the database is in this process. */
import { testSqlProgram } from 'moirai/sql';
import { expect, test } from 'vitest';
import transfer from '../sql-transfer.ts';

test('two withdrawals lose money at read committed', async () => {
  await expect(testSqlProgram(transfer, { isolation: 'read committed', runs: 20 })).rejects.toThrow(
    '120 was taken and 30 is left of 100',
  );
});

test('... and are told to try again at serializable', async () => {
  await expect(testSqlProgram(transfer, { isolation: 'serializable', runs: 20 })).rejects.toThrow(
    'could not serialize access',
  );
});
