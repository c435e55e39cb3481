/** Arbitrary messages of both directions, for properties. */
import fc from 'fast-check';
import type { BackendMessage, FrontendMessage, StartupPacket } from './index.ts';

const text = fc.string({ unit: 'grapheme', maxLength: 40 }).filter((value) => !value.includes('\0'));
const word = text.filter((value) => value !== '');
const bytes = fc.uint8Array({ maxLength: 60 }).map((value) => Buffer.from(value));
const values = fc.array(fc.option(bytes), { maxLength: 8 });
const formats = fc.array(fc.nat(0xffff), { maxLength: 8 });
const int16 = fc.integer({ min: -0x8000, max: 0x7fff });
const int32 = fc.integer({ min: -0x80000000, max: 0x7fffffff });
const uint32 = fc.nat(0xffffffff);
const target = fc.constantFrom('statement' as const, 'portal' as const);
const errorFields = fc.record(
  {
    severity: text,
    severityName: text,
    code: text,
    message: text,
    detail: text,
    hint: text,
    position: text,
    internalPosition: text,
    internalQuery: text,
    where: text,
    schema: text,
    table: text,
    column: text,
    dataType: text,
    constraint: text,
    file: text,
    line: text,
    routine: text,
  },
  { requiredKeys: [] },
);

/** By kind, so that a new message without an arbitrary does not compile. */
const frontendByKind: { readonly [K in FrontendMessage['kind']]: fc.Arbitrary<Extract<FrontendMessage, { kind: K }>> } =
  {
    query: fc.record({ kind: fc.constant('query'), sql: text }),
    parse: fc.record({
      kind: fc.constant('parse'),
      statement: text,
      sql: text,
      parameterTypes: fc.array(uint32, { maxLength: 8 }),
    }),
    bind: fc.record({
      kind: fc.constant('bind'),
      portal: text,
      statement: text,
      parameterFormats: formats,
      values,
      resultFormats: formats,
    }),
    describe: fc.record({ kind: fc.constant('describe'), target, name: text }),
    execute: fc.record({ kind: fc.constant('execute'), portal: text, rowsMax: int32 }),
    close: fc.record({ kind: fc.constant('close'), target, name: text }),
    flush: fc.record({ kind: fc.constant('flush') }),
    sync: fc.record({ kind: fc.constant('sync') }),
    terminate: fc.record({ kind: fc.constant('terminate') }),
    'authentication-response': fc.record({ kind: fc.constant('authentication-response'), data: bytes }),
    'copy-data': fc.record({ kind: fc.constant('copy-data'), data: bytes }),
    'copy-done': fc.record({ kind: fc.constant('copy-done') }),
    'copy-fail': fc.record({ kind: fc.constant('copy-fail'), reason: text }),
    'function-call': fc.record({
      kind: fc.constant('function-call'),
      functionOid: uint32,
      argumentFormats: formats,
      values,
      resultFormat: fc.nat(0xffff),
    }),
  };

export const frontendKinds = Object.keys(frontendByKind) as FrontendMessage['kind'][];
export const frontendOfKind = (kind: FrontendMessage['kind']): fc.Arbitrary<FrontendMessage> => frontendByKind[kind];
export const frontendMessage: fc.Arbitrary<FrontendMessage> = fc.oneof(...frontendKinds.map(frontendOfKind));

const copyFormats = { format: fc.nat(0xff), columnFormats: formats };
const field = fc.record({
  name: text,
  tableOid: uint32,
  columnNumber: int16,
  typeOid: uint32,
  typeSize: int16,
  typeModifier: int32,
  format: fc.nat(0xffff),
});
const request: fc.Arbitrary<Extract<BackendMessage, { kind: 'authentication' }>['request']> = fc.oneof(
  fc.record({ method: fc.constantFrom('ok' as const, 'cleartext' as const) }),
  fc.record({
    method: fc.constant('md5' as const),
    salt: fc.uint8Array({ minLength: 4, maxLength: 4 }).map((value) => Buffer.from(value)),
  }),
  fc.record({ method: fc.constant('sasl' as const), mechanisms: fc.array(word) }),
  fc.record({ method: fc.constantFrom('sasl-continue' as const, 'sasl-final' as const), data: bytes }),
  fc.record({ method: fc.constant('other' as const), number: fc.constantFrom(2, 7, 8, 9), data: bytes }),
);

const backendByKind: { readonly [K in BackendMessage['kind']]: fc.Arbitrary<Extract<BackendMessage, { kind: K }>> } = {
  authentication: fc.record({ kind: fc.constant('authentication'), request }),
  'negotiate-protocol-version': fc.record({
    kind: fc.constant('negotiate-protocol-version'),
    version: int32,
    options: fc.array(text),
  }),
  'backend-key-data': fc.record({ kind: fc.constant('backend-key-data'), processId: int32, secret: bytes }),
  'parameter-status': fc.record({ kind: fc.constant('parameter-status'), name: text, value: text }),
  'ready-for-query': fc.record({
    kind: fc.constant('ready-for-query'),
    status: fc.constantFrom('idle' as const, 'open' as const, 'failed' as const),
  }),
  'row-description': fc.record({ kind: fc.constant('row-description'), fields: fc.array(field, { maxLength: 6 }) }),
  'data-row': fc.record({ kind: fc.constant('data-row'), values }),
  'command-complete': fc.record({ kind: fc.constant('command-complete'), tag: text }),
  'empty-query-response': fc.record({ kind: fc.constant('empty-query-response') }),
  'parse-complete': fc.record({ kind: fc.constant('parse-complete') }),
  'bind-complete': fc.record({ kind: fc.constant('bind-complete') }),
  'close-complete': fc.record({ kind: fc.constant('close-complete') }),
  'no-data': fc.record({ kind: fc.constant('no-data') }),
  'portal-suspended': fc.record({ kind: fc.constant('portal-suspended') }),
  'parameter-description': fc.record({ kind: fc.constant('parameter-description'), types: fc.array(uint32) }),
  'error-response': fc.record({ kind: fc.constant('error-response'), fields: errorFields }),
  'notice-response': fc.record({ kind: fc.constant('notice-response'), fields: errorFields }),
  'notification-response': fc.record({
    kind: fc.constant('notification-response'),
    processId: int32,
    channel: text,
    payload: text,
  }),
  'copy-in-response': fc.record({ kind: fc.constant('copy-in-response'), ...copyFormats }),
  'copy-out-response': fc.record({ kind: fc.constant('copy-out-response'), ...copyFormats }),
  'copy-both-response': fc.record({ kind: fc.constant('copy-both-response'), ...copyFormats }),
  'copy-data': fc.record({ kind: fc.constant('copy-data'), data: bytes }),
  'copy-done': fc.record({ kind: fc.constant('copy-done') }),
  'function-call-response': fc.record({ kind: fc.constant('function-call-response'), value: fc.option(bytes) }),
};

export const backendKinds = Object.keys(backendByKind) as BackendMessage['kind'][];
export const backendOfKind = (kind: BackendMessage['kind']): fc.Arbitrary<BackendMessage> => backendByKind[kind];
export const backendMessage: fc.Arbitrary<BackendMessage> = fc.oneof(...backendKinds.map(backendOfKind));

export const startupPacket: fc.Arbitrary<StartupPacket> = fc.oneof(
  fc.record({
    kind: fc.constant('startup' as const),
    major: fc.constant(3),
    minor: fc.nat(0xffff),
    parameters: fc.array(fc.tuple(word, text), { maxLength: 5 }).map((entries) => new Map(entries)),
  }),
  fc.record({ kind: fc.constantFrom('ssl-request' as const, 'gssenc-request' as const) }),
  fc.record({
    kind: fc.constant('cancel-request' as const),
    processId: int32,
    secret: fc.uint8Array({ minLength: 4, maxLength: 256 }).map((value) => Buffer.from(value)),
  }),
);
