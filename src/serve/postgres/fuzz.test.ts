/** Streams that no client should send: every one is answered or hung up on; nothing is thrown, nothing hangs, no session is left. */
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { encodeStartup, type FrontendMessage, MessageWriter } from '../../wire/postgres/index.ts';
import { frontendMessage, startupPacket } from '../../wire/postgres/messages.test-support.ts';
import { openSqlDatabase } from '../../database/database.ts';
import { frontendBytes, quiet, RawClient } from './client.test-support.ts';
import type { PostgresOptions } from './conversation.ts';
import { TinyServer } from './server.test-support.ts';
import { parseProfile } from '../../database/instance/profile.ts';

const startup = encoded((writer) =>
  encodeStartup(writer, { kind: 'startup', major: 3, minor: 0, parameters: new Map([['user', 'ann']]) }),
);

/** Statements that one server or the other knows, so that valid messages in a wrong order meet open transactions, portals and blocks. */
const words = ['rows 3', 'insert 1', 'fail 23505', 'bug', 'echo int4', 'rows 1; nonsense'];
const statements = [
  'select n from generate_series(1, 3) as n',
  'insert into t values (1)',
  'delete from t returning id',
  'select $1::int4',
  'select 1; select nothing from t',
  'create table u (id int); drop table u',
];
const sql = fc.constantFrom('begin', 'commit', 'rollback', '', ...words, ...statements);
const name = fc.constantFrom('', 'a', 'b');
const target = fc.constantFrom('statement' as const, 'portal' as const);
const knownMessage: fc.Arbitrary<FrontendMessage> = fc.oneof(
  fc.record({ kind: fc.constant('query' as const), sql }),
  fc.record({
    kind: fc.constant('parse' as const),
    statement: name,
    sql,
    parameterTypes: fc.constantFrom([], [23], [0], [600]),
  }),
  fc.record({
    kind: fc.constant('bind' as const),
    portal: name,
    statement: name,
    parameterFormats: fc.constantFrom([], [0], [1], [2], [0, 1]),
    values: fc.constantFrom([], [null], [Buffer.from('7')], [Buffer.from([0, 0, 0, 7])], [Buffer.from([0xff, 0])]),
    resultFormats: fc.constantFrom([], [0], [1], [0, 1], [0, 1, 0]),
  }),
  fc.record({ kind: fc.constant('describe' as const), target, name }),
  fc.record({ kind: fc.constant('execute' as const), portal: name, rowsMax: fc.constantFrom(0, 1, -1, 100) }),
  fc.record({ kind: fc.constant('close' as const), target, name }),
  fc.record({ kind: fc.constantFrom('flush' as const, 'sync' as const, 'copy-done' as const) }),
  // These end the connection, so that nothing after them would be tried.
  frontendMessage.filter(({ kind }) => kind !== 'terminate' && kind !== 'authentication-response'),
);

const messages = fc.array(knownMessage, { maxLength: 12 });
const valid = messages.map((list) => Buffer.from(frontendBytes(...list)));

/** A byte changed, a length among them more often than not since most messages are short. */
const damaged = fc.tuple(valid, fc.nat(), fc.nat(255)).map(([bytes, at, byte]) => {
  if (bytes.length > 0) bytes[at % bytes.length] = byte;
  return bytes;
});
const truncated = fc.tuple(valid, fc.nat()).map(([bytes, at]) => bytes.subarray(0, at % (bytes.length + 1)));
const random = fc.uint8Array({ maxLength: 300 }).map((bytes) => Buffer.from(bytes));
const oversized = fc.tuple(valid, fc.constantFrom(0x7fffffff, 5000, 1001, 3, 0, -5)).map(([bytes, length]) => {
  const header = Buffer.from('Q0000');
  header.writeInt32BE(length, 1);
  return Buffer.concat([bytes, header]);
});
const packets = startupPacket.map((packet) => Buffer.from(encoded((writer) => encodeStartup(writer, packet))));

const opened = fc.constant(Buffer.from(startup));
const stream = fc.oneof(
  { weight: 4, arbitrary: fc.tuple(opened, fc.oneof(valid, damaged, truncated, random, oversized)) },
  { weight: 1, arbitrary: fc.tuple(packets, fc.oneof(valid, packets)) },
  { weight: 1, arbitrary: fc.tuple(random, valid) },
);
const isProtected = fc.constantFrom(true, false, false, false);

interface Served {
  readonly options: Partial<PostgresOptions>;
  readonly sessionCount: () => number;
}

const serving: Readonly<Record<string, () => Promise<Served>>> = {
  'a server of a few words': async () => {
    const server = new TinyServer();
    return { options: { server }, sessionCount: () => server.sessions.size };
  },
  'a database': async () => {
    const server = await openSqlDatabase({ profile: parseProfile({ engine: 'postgres' }) });
    return { options: { server }, sessionCount: () => server.sessions.length };
  },
};

test.each(Object.keys(serving))('1,000 streams, in pieces of any size, to %s', { timeout: 60_000 }, async (kind) => {
  const { options, sessionCount } = await (serving[kind] as () => Promise<Served>)();
  let answered = 0;
  let hungUp = 0;
  const meets = async ([head, tail]: [Buffer, Buffer], pieceBytes: number, asksPassword: boolean): Promise<void> => {
    const client = new RawClient({ frameBytesMax: 1000, ...options, ...(asksPassword ? { password: 'secret' } : {}) });
    // What answers SSLRequest is no frame, and not looked at here.
    client.hearsNothing = true;
    const bytes = Buffer.concat([head, tail]);
    for (let start = 0; start < bytes.length; start += pieceBytes) {
      client.conversation.receive(bytes.subarray(start, start + pieceBytes));
    }
    await quiet();
    if (client.isClosed) hungUp += 1;
    else if (client.pieces.length > 0) answered += 1;
    client.conversation.ended();
    for (let turn = 0; turn < 100 && !client.isClosed; turn++) await quiet();
    expect(client.isClosed).toBe(true);
    client.conversation.closed();
    expect(sessionCount()).toBe(0);
    expect(client.bugs.filter((bug) => !isAskedFor(bug))).toEqual([]);
  };
  await fc.assert(fc.asyncProperty(stream, fc.integer({ min: 1, max: 64 }), isProtected, meets), { numRuns: 1000 });
  expect(answered).toBeGreaterThan(100);
  expect(hungUp).toBeGreaterThan(100);
});

test('valid messages in any order: as many ReadyForQuery as Syncs, queries and calls that are not passed over', async () => {
  await fc.assert(
    fc.asyncProperty(messages, async (list) => {
      const client = new RawClient();
      await client.startUp();
      const heard = await client.say(...list, { kind: 'sync' });
      expect(heard.at(-1)?.kind).toBe('ready-for-query');
      const count = heard.filter(({ kind }) => kind === 'ready-for-query').length;
      const syncs = list.filter(({ kind }) => kind === 'sync').length + 1;
      const others = list.filter(({ kind }) => kind === 'query' || kind === 'function-call').length;
      expect(count).toBeGreaterThanOrEqual(syncs);
      expect(count).toBeLessThanOrEqual(syncs + others);
    }),
    { numRuns: 300 },
  );
});

/** The statement `bug` throws it on purpose. */
function isAskedFor(bug: unknown): boolean {
  return bug instanceof TypeError && bug.message === 'a bug of ours';
}

function encoded(write: (writer: MessageWriter) => void): Uint8Array {
  const writer = new MessageWriter();
  write(writer);
  return writer.take();
}
