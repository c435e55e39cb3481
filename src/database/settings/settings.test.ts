import { describe, expect, test } from 'vitest';
import { engines } from '../instance/profile.ts';
import { Settings, timeoutMs } from './settings.ts';

function settings(initial: Record<string, string> = {}, dialect: 'postgres' | 'mysql' = 'postgres') {
  const reported: string[] = [];
  const made = new Settings(engines[dialect], new Map(Object.entries(initial)), (name, value) =>
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

  test.each([
    ['TimeZone', 'UTC', 'Europe/Berlin'],
    ['TimeZone', '+00', '+02'],
    ['DateStyle', 'ISO, MDY', 'ISO, DMY'],
    ['IntervalStyle', 'postgres', 'iso_8601'],
    ['extra_float_digits', '3', '0'],
    ['idle_in_transaction_session_timeout', '0', '300ms'],
    ['session_replication_role', 'origin', 'replica'],
    ['standard_conforming_strings', 'on', 'off'],
    ['client_encoding', 'utf8', 'LATIN1'],
    ['enable_indexscan', 'on', 'off'],
    ['default_transaction_deferrable', 'off', 'on'],
  ])('%s = %s is followed, %s is not supported', (name, followed, other) => {
    const { made } = settings();
    made.set(name, followed, false);
    const refusal = expect.objectContaining({ code: '0A000', isUnsupported: true });
    expect(() => made.set(name, other, false)).toThrow(refusal);
  });

  test.each([
    ['timezone', 'Europe/Berlin', 'TimeZone', 'UTC'],
    ['DateStyle', 'German', 'DateStyle', 'ISO, MDY'],
    ['IntervalStyle', 'iso_8601', 'IntervalStyle', 'postgres'],
  ])('at connection %s = %s refuses no client: it hears of what it gets', (given, value, name, effective) => {
    const { made, reported } = settings({ [given]: value, application_name: 'till' });
    expect(made.unfollowed).toMatchObject([{ name, value, error: { code: '0A000', isUnsupported: true } }]);
    expect(made.get(name)).toBe(effective);
    expect(reported).toEqual([`${name}=${effective}`]);
    made.resetAll();
    expect(made.get(name)).toBe(effective);
    expect(made.get('application_name')).toBe('till');
  });

  test.each(['UTC', 'etc/utc', 'GMT', '0', '+00:00', 'Z'])('at connection TimeZone = %s is followed', (zone) => {
    expect(settings({ TimeZone: zone }).made.unfollowed).toEqual([]);
  });

  test('at connection a zone that does not exist is refused, as the server does', () => {
    expect(() => settings({ TimeZone: 'Mars/Olympus' })).toThrow(expect.objectContaining({ code: '22023' }));
  });

  test.each(['enable_nestloop', 'synchronize_seqscans', 'log_statement', 'row_security'])(
    '%s changes nothing that a client sees',
    (name) => {
      const { made } = settings();
      made.set(name, 'off', false);
      expect(made.get(name)).toBe('off');
    },
  );

  test('that is no zone of any server is an error of PostgreSQL’s', () => {
    expect(() => settings().made.set('timezone', 'Foo/Bar', false)).toThrow(expect.objectContaining({ code: '22023' }));
  });

  test.each([
    ['sql_mode', 'STRICT_ALL_TABLES,NO_ZERO_DATE', 'ANSI_QUOTES,STRICT_ALL_TABLES'],
    ['sql_mode', 'TRADITIONAL', ''],
    ['time_zone', '+00:00', '+05:00'],
    ['character_set_results', 'utf8', 'latin1'],
    ['sql_safe_updates', '0', '1'],
    ['default_storage_engine', 'InnoDB', 'MyISAM'],
  ])('of MySQL: %s = %s is followed, %s is not supported', (name, followed, other) => {
    const { made } = settings({}, 'mysql');
    made.set(name, followed, false);
    expect(() => made.set(name, other, false)).toThrow(expect.objectContaining({ code: '0A000', isUnsupported: true }));
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
    made.set('TimeZone', 'GMT', false);
    made.set('timezone', 'GMT', false);
    made.set('work_mem', '1MB', false);
    made.end(false);
    expect(reported).toEqual(['TimeZone=GMT', 'TimeZone=UTC']);
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

// As PostgreSQL 15 shows them.
test.each([
  ['0', '0'],
  ['3000', '3s'],
  ['1500', '1500ms'],
  ['90s', '90s'],
  ['1.5', '2ms'],
  ['2.5', '2ms'],
  ['500us', '0'],
  ['1.5h', '90min'],
  ['48h', '2d'],
  [' 7 s ', '7s'],
])('statement_timeout = %s is shown as %s', (given, shown) => {
  const { made } = settings({ statement_timeout: given });
  expect(made.get('statement_timeout')).toBe(shown);
  made.set('lock_timeout', given, false);
  expect(made.get('lock_timeout')).toBe(shown);
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
