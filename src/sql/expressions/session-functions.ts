/** Functions of the session, its settings, its sequences and the catalog. What they tell comes from the surroundings. */
import { createHash } from 'node:crypto';
import { postgresHas } from '../known/server-names.ts';
import { notSupported, SqlError, typeTitle, typeOfOid, arrayValue } from '../model/index.ts';
import { ambient, nullable, type Signature, strict, volatile, volatileNullable, typedNullable } from './signature.ts';
import { hashBytes } from './hash-text.ts';
import { postgresLocks } from './lock-functions.ts';
import type { Surroundings } from '../execution.ts';

const stable = ambient({
  'now() timestamptz': (from) => from.transactionTime,
  'transaction_timestamp() timestamptz': (from) => from.transactionTime,
  'statement_timestamp() timestamptz': (from) => from.statementTime,
  'current_database() name': (from) => from.database,
  'current_user() name': (from) => from.user,
  'session_user() name': (from) => from.user,
  'current_schema() name': (from) => from.catalog.currentSchema(),
  'current_schemas(bool) name[]': (from, withImplicit: boolean) => {
    const schema = from.catalog.currentSchema();
    return arrayValue([...(withImplicit ? ['pg_catalog'] : []), ...(schema === null ? [] : [schema])]);
  },
  'version() text': (from) => from.version,
  'pg_backend_pid() int4': (from) => from.sessionId,
  'pg_is_in_recovery() bool': () => false,
  'current_setting(text) text': (from, name: string) => {
    const value = from.setting(name.toLowerCase());
    if (value === undefined) throw unknownSetting(name);
    return value;
  },
  'current_setting(text, bool) text': (from, name: string, missingOk: boolean) => {
    const value = from.setting(name.toLowerCase());
    if (value === undefined && !missingOk) throw unknownSetting(name);
    return value ?? null;
  },
  'pg_get_serial_sequence(text, text) text': (from, table: string, column: string) =>
    from.catalog.serialSequence(table, column),
  'to_regclass(text) regclass': (from, name: string) => from.catalog.toRegclass(name),
  'to_regtype(text) regtype': (from, name: string) => from.catalog.toRegtype(name),
  'obj_description(oid) text': (from, oid: number) => from.catalog.comment(oid, ''),
  'obj_description(oid, name) text': (from, oid: number, catalog: string) => from.catalog.comment(oid, catalog),
  'col_description(oid, int4) text': (from, oid: number, column: number) => from.catalog.columnComment(oid, column),
  'shobj_description(oid, name) text': () => null,
  'pg_table_size(regclass) int8': () => 0n,
  'pg_relation_size(regclass) int8': () => 0n,
  'pg_indexes_size(regclass) int8': () => 0n,
  'pg_total_relation_size(regclass) int8': () => 0n,
  'pg_size_pretty(int8) text': (_from, bytes: bigint) => sizeText(bytes),
  'pg_tablespace_location(oid) text': () => '',
  'pg_relation_is_publishable(regclass) bool': (from, name: string) => from.catalog.toRegclass(name) !== null,
  // There are no functions, triggers, rules or statistics objects that these could show.
  'pg_get_function_result(oid) text': () => null,
  'pg_get_function_arguments(oid) text': () => null,
  'pg_get_function_identity_arguments(oid) text': () => null,
  'pg_get_functiondef(oid) text': () => null,
  'pg_get_triggerdef(oid) text': () => null,
  'pg_get_triggerdef(oid, bool) text': () => null,
  'pg_get_ruledef(oid) text': () => null,
  'pg_get_ruledef(oid, bool) text': () => null,
  'pg_get_statisticsobjdef_columns(oid) text': () => null,
  'getdatabaseencoding() name': () => 'UTF8',
  'pg_char_to_encoding(name) int4': (_from, name: string) => (/^utf-?8$/i.test(name) ? 6 : -1),
  'pg_get_expr(text, oid) text': (_from, expression: string) => expression,
  'pg_get_expr(text, oid, bool) text': (from, expression: string, _oid: number, isPretty: boolean) =>
    isPretty ? from.catalog.prettyExpression(expression) : expression,
  'pg_get_constraintdef(oid) text': (from, oid: number) => from.catalog.constraintDefinition(oid, false),
  'pg_get_constraintdef(oid, bool) text': (from, oid: number, isPretty: boolean) =>
    from.catalog.constraintDefinition(oid, isPretty),
  'pg_get_indexdef(oid) text': (from, oid: number) => from.catalog.indexDefinition(oid, 0, false),
  'pg_get_indexdef(oid, int4, bool) text': (from, oid: number, column: number, isPretty: boolean) =>
    from.catalog.indexDefinition(oid, column, isPretty),
  'pg_get_viewdef(oid) text': (from, oid: number) => from.catalog.viewDefinition(oid),
  'pg_get_viewdef(oid, bool) text': (from, oid: number) => from.catalog.viewDefinition(oid),
  'pg_get_userbyid(oid) name': (from, oid: number) => from.catalog.roleName(oid) ?? `unknown (OID=${oid})`,
  'pg_table_is_visible(oid) bool': (from, oid: number) => from.catalog.isVisible(oid),
  'pg_type_is_visible(oid) bool': () => true,
  'pg_function_is_visible(oid) bool': () => true,
  'has_table_privilege(text, text) bool': () => true,
  'has_schema_privilege(text, text) bool': () => true,
  'has_database_privilege(text, text) bool': () => true,
  'pg_encoding_to_char(int4) name': () => 'UTF8',
  'txid_current() int8': (from) => BigInt(from.transactionId),
});

/** PostgreSQL's settings that have no value here are not known: they depend on the machine. */
export function unknownSetting(name: string): SqlError {
  return postgresHas.setting(name) || postgresHas.fixedSetting(name)
    ? notSupported(`the value of the setting ${name}`)
    : new SqlError('42704', `unrecognized configuration parameter "${name}"`);
}

const sizeUnits = ['bytes', 'kB', 'MB', 'GB', 'TB', 'PB'];

/** dbsize.c: the next unit from ten times its size on, rounded to the nearest. */
function sizeText(bytes: bigint): string {
  const size = bytes < 0n ? -bytes : bytes;
  const sign = bytes < 0n ? '-' : '';
  if (size < 10_240n) return `${bytes} bytes`;
  let halves = size / 512n;
  let unit = 1;
  for (; halves >= 20_479n && unit < sizeUnits.length - 1; unit++) halves /= 1024n;
  return `${sign}${(halves + 1n) / 2n} ${sizeUnits[unit]}`;
}

const changing = volatile({
  'clock_timestamp() timestamptz': (from) => from.clock(),
  'random() float8': (from) => from.random(),
  'gen_random_uuid() uuid': randomUuid,
  'uuid_generate_v4() uuid': randomUuid,
  'nextval(text) int8': (from, sequence) => from.nextValue(sequence),
  'currval(text) int8': (from, sequence) => from.currentValue(sequence),
  // A sequence's name may be given as a regclass, which is its text here.
  'nextval(regclass) int8': (from, sequence) => from.nextValue(sequence),
  'currval(regclass) int8': (from, sequence) => from.currentValue(sequence),
  'lastval() int8': (from) => from.currentValue(''),
  'setval(text, int8) int8': (from, sequence: string, value: bigint) => from.setValue(sequence, value, true),
  'setval(text, int8, bool) int8': (from, sequence: string, value: bigint, isCalled: boolean) =>
    from.setValue(sequence, value, isCalled),
  'pg_cancel_backend(int4) bool': (from, pid: number) => from.signal('cancel', pid),
  'pg_terminate_backend(int4) bool': (from, pid: number) => from.signal('terminate', pid),
  'pg_terminate_backend(int4, int8) bool': (from, pid: number, timeoutMs: bigint) => {
    if (timeoutMs !== 0n) throw notSupported('the timeout of pg_terminate_backend');
    return from.signal('terminate', pid);
  },
});
/** Version 4: random but for the version and variant. */
export function randomUuid({ random }: Pick<Surroundings, 'random'>): string {
  const hex = Array.from({ length: 32 }, () => Math.floor(random() * 16).toString(16));
  hex[12] = '4';
  hex[16] = (8 + Math.floor(random() * 4)).toString(16);
  const text = hex.join('');
  return [text.slice(0, 8), text.slice(8, 12), text.slice(12, 16), text.slice(16, 20), text.slice(20)].join('-');
}

const settings = volatileNullable({
  'set_config(text, text, bool) text': (from, name: string | null, value: string | null, isLocal: boolean | null) => {
    if (name === null) throw new SqlError('22004', 'SET requires parameter name');
    from.setSetting(name.toLowerCase(), value ?? '', isLocal === true);
    return from.setting(name.toLowerCase()) ?? value ?? '';
  },
  'format_type(oid, int4) text': (from, oid: number | null, modifier: number | null) => {
    if (oid === null) return null;
    const type = typeOfOid(oid);
    return type === undefined ? from.catalog.names.regtype.nameOf(oid) : typeTitle(type, modifier ?? -1);
  },
});

export const sessionFunctions: readonly Signature[] = [
  ...stable,
  ...changing,
  ...volatile(postgresLocks),
  ...settings,
  ...typedNullable({
    'pg_typeof(any) regtype':
      ({ types: [type] }) =>
      () =>
        type === undefined ? null : typeTitle(type),
  }),
  ...nullable({ 'md5(bytea) text': (bytes: Uint8Array | null) => (bytes === null ? null : md5(bytes)) }),
  ...strict({
    'hashtext(text) int4': (text: string) => hashBytes(Buffer.from(text)).low,
    'hashtextextended(text, int8) int8': (text: string, seed: bigint) => {
      const { high, low } = hashBytes(Buffer.from(text), seed);
      return BigInt.asIntN(64, (BigInt(high) << 32n) | BigInt.asUintN(32, BigInt(low)));
    },
  }),
];

export function md5(bytes: Uint8Array | string): string {
  return createHash('md5').update(bytes).digest('hex');
}
