/** MySQL conversations and the flow of bytes: in any pieces, of any bytes, towards clients that do not read. */
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { ResultColumn } from '../../sql/index.ts';
import { types } from '../../sql/model/type.ts';
import { type Command, columnType, encodeCommand, encodeExecution, encodePacket } from '../../wire/mysql/index.ts';
import { clientFlags, RawClient, told, turn } from './client.test-support.ts';
import { mysqlConversations } from './conversation.ts';
import { type Script, ScriptedServer, selected } from '../scripted-server.test-support.ts';

const base = { modifier: -1, tableNumber: 0, columnNumber: 0, tableName: '', isNullable: true };
const text: readonly ResultColumn[] = [{ ...base, name: 't', type: types.varchar }];
const letters = 'x'.repeat(1000);
const script: Script = {
  'select 1': { columns: text, run: () => selected(text, [['1'], [null]]) },
  'select ?': { columns: text, parameterTypes: [types.varchar], run: ([t = null]) => selected(text, [[t]]) },
  large: {
    columns: text,
    run: () =>
      selected(
        text,
        Array.from({ length: 10_000 }, () => [letters]),
      ),
  },
  'SELECT * FROM `t`': { columns: text },
  wait: { columns: text, run: () => new Promise(() => undefined) },
};

function open() {
  const server = new ScriptedServer(script);
  const bugs: unknown[] = [];
  const randomBytes = (count: number) => new Uint8Array(count).fill(7);
  const options = { server, randomBytes, onBug: (error: unknown) => bugs.push(error), packetBytesMax: 1 << 20 };
  return { server, bugs, client: new RawClient(mysqlConversations(options)) };
}

const varString = { type: columnType.varString, isUnsigned: false };
const body = encodeExecution({ cursor: 0, types: [varString], values: [Buffer.from('five')] }, true);
const commands: readonly Command[] = [
  { kind: 'query', sql: Buffer.from('begin') },
  { kind: 'query', sql: Buffer.from('select 1') },
  { kind: 'stmt-prepare', sql: Buffer.from('select ?') },
  { kind: 'stmt-send-long-data', statementId: 1, parameter: 0, data: Buffer.from('long') },
  { kind: 'stmt-execute', statementId: 1, body },
  { kind: 'stmt-reset', statementId: 1 },
  { kind: 'stmt-close', statementId: 1 },
  { kind: 'reset-connection' },
  { kind: 'quit' },
];

/** What a client sends in one connection, login first. */
async function recorded(): Promise<Uint8Array> {
  const { client } = open();
  const sent: Uint8Array[] = [];
  client.conversation.receive = (chunk) => void sent.push(chunk);
  await client.login();
  return Buffer.concat([
    ...sent,
    ...commands.map((command) => encodePacket(encodeCommand(command, clientFlags), 0).bytes),
  ]);
}

test('a stream cut anywhere is answered the same', async () => {
  const stream = await recorded();
  const answers = async (chunks: readonly Uint8Array[]) => {
    const { client, bugs } = open();
    for (const chunk of chunks) {
      client.conversation.receive(chunk);
      await turn();
    }
    expect(bugs).toEqual([]);
    expect(client.isClosed).toBe(true);
    return Buffer.concat(client.chunks).toString('hex');
  };
  const whole = await answers([stream]);
  expect(whole.length).toBeGreaterThan(400);
  for (let cut = 1; cut < stream.length; cut++)
    expect(await answers([stream.subarray(0, cut), stream.subarray(cut)])).toBe(whole);
  expect(await answers([...stream].map((byte) => Uint8Array.of(byte)))).toBe(whole);
});

describe('malformed streams', () => {
  const login = recorded().then((stream) => stream.subarray(0, (stream[0] ?? 0) + 4));
  const packets = fc.array(fc.tuple(fc.uint8Array({ maxLength: 40 }), fc.constantFrom(0, 0, 0, 1)), { maxLength: 8 });

  async function expectAnEnd(stream: Uint8Array): Promise<void> {
    const { client, bugs, server } = open();
    client.conversation.receive(stream);
    await turn();
    client.conversation.ended();
    // Whoever waits for a lock is waited for; it has to end when the connection does.
    await turn();
    client.conversation.closed();
    await turn();
    await turn();
    expect(bugs).toEqual([]);
    expect([client.isClosed, server.sessions.size]).toEqual([true, 0]);
  }

  test('of any bytes', () =>
    fc.assert(
      fc.asyncProperty(fc.uint8Array({ maxLength: 200 }), (bytes) => expectAnEnd(bytes)),
      { numRuns: 300 },
    ));

  test('of any packets after a login', () =>
    fc.assert(
      fc.asyncProperty(packets, async (payloads) => {
        const framed = payloads.map(([payload, sequence]) => encodePacket(payload, sequence).bytes);
        await expectAnEnd(Buffer.concat([await login, ...framed]));
      }),
      { numRuns: 400 },
    ));

  test('with a byte changed, or cut off', () =>
    fc.assert(
      fc.asyncProperty(fc.nat(), fc.nat(255), fc.boolean(), async (position, byte, isCut) => {
        const stream = Uint8Array.from(await recorded());
        const at = position % stream.length;
        stream[at] = byte;
        await expectAnEnd(isCut ? stream.subarray(0, at) : stream);
      }),
      { numRuns: 400 },
    ));
});

describe('a client that does not read', () => {
  async function asked() {
    const all = open();
    await all.client.login();
    all.client.chunks.length = 0;
    all.client.hasRoom = false;
    all.client.write(encodeCommand({ kind: 'query', sql: Buffer.from('large') }, clientFlags), 0);
    await turn();
    return all;
  }

  test('gets a chunk at a time', async () => {
    const { client } = await asked();
    for (let chunks = 1; chunks <= 100; chunks++) {
      expect(client.chunks).toHaveLength(chunks);
      expect(client.chunks.at(-1)?.length).toBeLessThan(64 * 1024 + 1100);
      client.conversation.drained();
      await turn();
    }
    client.hasRoom = true;
    client.conversation.drained();
    const packets = await client.packets();
    expect(packets).toHaveLength(10_000 + 4);
    expect(told(packets.slice(-1))).toEqual(['EOF']);
    expect(packets.at(-1)?.sequence).toBe((10_000 + 4) & 0xff);
  });

  test('is not answered the next command either', async () => {
    const { client } = open();
    await client.login();
    client.hasRoom = false;
    const ping = encodePacket(Uint8Array.of(0x0e), 0).bytes;
    client.conversation.receive(Buffer.concat([ping, ping, ping]));
    expect(await client.packets()).toHaveLength(1);
    client.conversation.drained();
    expect(await client.packets()).toHaveLength(1);
    client.hasRoom = true;
    client.conversation.drained();
    expect(await client.packets()).toHaveLength(1);
  });

  test('and is gone', async () => {
    const { client, server } = await asked();
    client.conversation.closed();
    await turn();
    expect(client.chunks).toHaveLength(1);
    expect([client.isClosed, server.sessions.size]).toEqual([true, 0]);
  });
});

test('a client that sends more and more while it waits is told to stop', async () => {
  const { client } = open();
  await client.login();
  await client.query('wait');
  const ping = encodePacket(Uint8Array.of(0x0e), 0).bytes;
  for (let bytes = 0; bytes <= 64 * 1024; bytes += ping.length) {
    expect(client.isPaused).toBe(false);
    client.conversation.receive(ping);
  }
  expect(client.isPaused).toBe(true);
  client.conversation.closed();
  await turn();
  expect(client.isClosed).toBe(true);
});

test('after a pause everything is answered', async () => {
  let answer: () => void = () => undefined;
  const late: Script = {
    late: { run: () => new Promise((resolve) => (answer = () => resolve(selected(text, [])))), columns: text },
  };
  const server = new ScriptedServer(late);
  const client = new RawClient(mysqlConversations({ server, randomBytes: (count) => new Uint8Array(count) }));
  await client.login();
  await client.query('late');
  const pings = 20_000;
  client.conversation.receive(
    Buffer.concat(Array.from({ length: pings }, () => encodePacket(Uint8Array.of(0x0e), 0).bytes)),
  );
  expect(client.isPaused).toBe(true);
  answer();
  expect(await client.packets()).toHaveLength(4 + pings);
  expect(client.isPaused).toBe(false);
});

describe('a client understands every answer to its end', () => {
  test.each<[string, Command, readonly string[]]>([
    [
      'rows',
      { kind: 'query', sql: Buffer.from('select 1') },
      ['column-count', 'column', 'columns-end', 'text-row', 'text-row', 'rows-end'],
    ],
    ['a statement', { kind: 'query', sql: Buffer.from('begin') }, ['ok']],
    ['an error', { kind: 'query', sql: Buffer.from('what?') }, ['error']],
    ['nothing', { kind: 'stmt-close', statementId: 3 }, []],
    ['statistics', { kind: 'statistics' }, ['statistics']],
    ['the fields of a table', { kind: 'field-list', table: 't', wildcard: '' }, ['column', 'rows-end']],
    [
      'a prepared statement',
      { kind: 'stmt-prepare', sql: Buffer.from('select ?') },
      ['prepared', 'column', 'columns-end', 'column', 'columns-end'],
    ],
  ])('%s', async (_name, command, kinds) => {
    const { client } = open();
    await client.login();
    expect((await client.messages(command)).map(({ kind }) => kind)).toEqual(kinds);
  });
});
