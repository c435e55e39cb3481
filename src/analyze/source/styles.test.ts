import { readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { formatApplication } from '../format-application.ts';
import { applicationFromSource, loadTypeScript } from './index.ts';

const ts = await loadTypeScript();

/** The service of a style as the reader understands it, `$1` written as `?`. */
function serviceIn(style: string, dialect: 'postgres' | 'mysql'): string {
  const folder = fileURLToPath(new URL(`../../../test/fixtures/analyze-styles/${style}/`, import.meta.url));
  const files = new Map(readdirSync(folder).map((file) => [file, readFileSync(folder + file, 'utf8')]));
  const application = applicationFromSource({ ts, files, schema: '', dialect });
  return formatApplication(application, { places: false }).replaceAll(/\$\d+/g, '?');
}

const service = `unit pay
  transaction pay (repeatable read)
    accounts := SELECT balance FROM accounts WHERE id = ?  [from]
    if (count(accounts) = 0)
      abort
    if (accounts.balance < amount)
      abort
    UPDATE accounts SET balance = ? WHERE id = ?  [(accounts.balance - amount), from]
    accounts3 := UPDATE accounts SET balance = ? WHERE id = ?  [amount, to]
    if (count(accounts3) <> 1)
      abort
    for line of lines
      INSERT INTO lines (item, price) VALUES (?, ?)  [line.item, line.price]
  if (count(accounts) = 0)
    return
  if (accounts.balance < amount)
    return
  if (count(accounts3) <> 1)
    return
  INSERT INTO log (what, at) VALUES (?, ?)  ['paid', ? the time]
unit closeAccount
  accounts := SELECT balance FROM accounts WHERE id = ? FOR UPDATE  [id]
  if (count(accounts) <> 0)
    if ((accounts.balance <= 0) or force)
      DELETE FROM accounts WHERE id = ?  [id]
`;

test.each([
  ['pg', 'postgres'],
  ['postgres', 'postgres'],
  ['mysql2', 'mysql'],
] as const)('the service written with %s', (style, dialect) => {
  expect(serviceIn(style, dialect)).toBe(service);
});
