import { describe, expect, test } from 'vitest';
import { Settings, timeoutMs } from './settings.ts';

function settings(initial: Record<string, string> = {}, dialect: 'postgres' | 'mysql' = 'postgres') {
  const reported: string[] = [];
  const made = new Settings(dialect, new Map(Object.entries(initial)), (name, value) =>
    reported.push(`${name}=${value}`),
  );
  return { made, reported };
}

describe('a setting', () => {
  test('has a default, is found in any case, and goes back to what the client connected with', () => {
    const { made } = settings({ Application_Name: 'shop' });
    expect(made.get('timezone')).toBe('UTC');
    expect(made.get('DATESTYLE')).toBe('ISO, MDY');
    made.set('application_name', 'other', false);
    expect(made.get('application_name')).toBe('other');
    made.set('application_name', null, false);
    expect(made.get('application_name')).toBe('shop');
  });

  test.each([
    ['nonsense', 'x', '42704'],
    ['constructor', 'x', '42704'],
    ['server_version', '9', '55P02'],
    ['is_superuser', 'off', '55P02'],
    ['lock_timeout', 'soon', '22023'],
    ['statement_timeout', '-1', '22023'],
  ])('%s = %s is refused with %s', (name, value, code) => {
    expect(() => settings().made.set(name, value, false)).toThrow(expect.objectContaining({ code }));
  });

  test('with a dot is anybody’s; in MySQL every name is', () => {
    const { made } = settings();
    made.set('app.tenant', '7', false);
    expect(made.get('app.tenant')).toBe('7');
    const mysql = settings({}, 'mysql').made;
    mysql.set('anything', '1', false);
    expect([mysql.get('anything'), mysql.get('timezone')]).toEqual(['1', undefined]);
  });

  test('that the client chose is told from a default', () => {
    const { made } = settings();
    expect(made.chosen('default_transaction_isolation')).toBeUndefined();
    made.set('default_transaction_isolation', 'read committed', false);
    expect(made.chosen('default_transaction_isolation')).toBe('read committed');
    made.set('default_transaction_isolation', null, false);
    expect(made.chosen('default_transaction_isolation')).toBeUndefined();
  });
});

describe('in a transaction', () => {
  test('SET is taken back by ROLLBACK and kept by COMMIT', () => {
    const { made } = settings();
    made.begin();
    made.set('work_mem', '1MB', false);
    made.end(false);
    expect(made.get('work_mem')).toBe('4MB');
    made.begin();
    made.set('work_mem', '1MB', false);
    made.end(true);
    expect(made.get('work_mem')).toBe('1MB');
  });

  test('SET LOCAL ends with it, also when it says DEFAULT', () => {
    const { made } = settings();
    made.set('work_mem', '1MB', false);
    made.begin();
    made.set('work_mem', '2MB', true);
    expect(made.get('work_mem')).toBe('2MB');
    made.set('work_mem', null, true);
    expect(made.get('work_mem')).toBe('4MB');
    made.end(true);
    expect(made.get('work_mem')).toBe('1MB');
  });

  test('a SET after SET LOCAL is the last word', () => {
    const { made } = settings();
    made.begin();
    made.set('work_mem', '2MB', true);
    made.set('work_mem', '3MB', false);
    expect(made.get('work_mem')).toBe('3MB');
    made.end(true);
    expect(made.get('work_mem')).toBe('3MB');
  });

  test('a savepoint keeps what was set before it', () => {
    const { made } = settings();
    made.begin();
    made.set('work_mem', '1MB', false);
    const mark = made.mark();
    made.set('work_mem', '2MB', false);
    made.set('lock_timeout', '5s', true);
    made.backTo(mark);
    expect([made.get('work_mem'), made.get('lock_timeout')]).toEqual(['1MB', '0']);
  });

  test('MySQL’s settings are of no transaction', () => {
    const { made } = settings({}, 'mysql');
    made.begin();
    made.set('autocommit', '0', false);
    made.backTo(settings({}, 'mysql').made.mark());
    made.end(false);
    expect(made.get('autocommit')).toBe('0');
  });
});

describe('the client hears', () => {
  test('of changes of what is reported, once, and of their end', () => {
    const { made, reported } = settings();
    made.begin();
    made.set('TimeZone', 'Europe/Berlin', false);
    made.set('timezone', 'Europe/Berlin', false);
    made.set('work_mem', '1MB', false);
    made.end(false);
    expect(reported).toEqual(['TimeZone=Europe/Berlin', 'TimeZone=UTC']);
  });

  test('of RESET ALL', () => {
    const { made, reported } = settings({ application_name: 'shop' });
    made.set('application_name', 'x', false);
    made.set('work_mem', '1MB', false);
    made.resetAll();
    expect(reported).toEqual(['application_name=x', 'application_name=shop']);
    expect(made.get('work_mem')).toBe('4MB');
  });
});

test('all of them, by name', () => {
  const all = settings({ 'app.x': '1' }).made.all();
  expect(all.get('app.x')).toBe('1');
  expect([...all.keys()]).toEqual([...all.keys()].toSorted());
  expect(settings({}, 'mysql').made.all()).toEqual(new Map());
});

test.each([
  ['0', Infinity],
  [undefined, Infinity],
  ['soon', Infinity],
  ['250', 250],
  ['250ms', 250],
  [' 2 s ', 2_000],
  ['1min', 60_000],
  ['0.5h', 1_800_000],
  ['1d', 86_400_000],
  ['500us', 0.5],
])('%s is %d milliseconds', (text, ms) => expect(timeoutMs(text)).toBe(ms));
