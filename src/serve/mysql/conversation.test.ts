import { describe, expect, test, vi } from 'vitest';
import type { ResultColumn } from '../../sql/index.ts';
import type { SqlType } from '../../sql/model/index.ts';
import { types } from '../../sql/model/type.ts';
import {
  authResponse,
  capabilities,
  columnType,
  decodeAuthSwitch,
  decodeOk,
  decodePrepareOk,
  decodeTextRow,
  encodeExecution,
  encodeHandshakeResponse,
  has,
  type BinaryType,
  type BinaryValue,
} from '../../wire/mysql/index.ts';
import { clientFlags, RawClient, told, turn } from './client.test-support.ts';
import { mysqlConversations, type MysqlOptions } from './conversation.ts';
import { type Script, ScriptedServer, selected, statementResult } from '../scripted-server.test-support.ts';

function column(name: string, type: SqlType): ResultColumn {
  return { name, type, modifier: -1, tableNumber: 0, columnNumber: 0, tableName: '', isNullable: true };
}

const number = [column('n', types.int4)];
const script: Script = {
  'select 1': { columns: number, run: () => selected(number, [[1]]) },
  'update t': { run: () => statementResult('UPDATE', { rowCount: 2, foundRows: 3 }) },
  'insert t': { run: () => statementResult('INSERT', { rowCount: 1, foundRows: 1, insertId: 42n }) },
  wait: { run: () => new Promise(() => undefined) },
  bug: {
    run: () => {
      throw new TypeError('of ours');
    },
  },
  'select ?': { parameterTypes: [types.int4], columns: number, run: ([n = null]) => selected(number, [[n]]) },
  'select ?, ?': { parameterTypes: [types.text, types.bytea], run: () => statementResult('DO') },
};

function open(more: Partial<MysqlOptions> = {}) {
  const server = new ScriptedServer(script);
  const start = mysqlConversations({ server, randomBytes: (count) => new Uint8Array(count).fill(0x80), ...more });
  return { server, start, client: new RawClient(start) };
}

async function loggedIn(more: Partial<MysqlOptions> = {}, flags = clientFlags) {
  const all = open(more);
  expect(told(await all.client.login({ capabilities: flags }))).toEqual(['OK 2']);
  return all;
}

const denied = "ERR 1045 28000 Access denied for user 'ann' (using password: YES)";

describe('login', () => {
  test('begins with the server, whose salt has no zero', async () => {
    const handshake = await open({ serverVersion: '8.4.0-x' }).client.handshake();
    expect(handshake).toMatchObject({ serverVersion: '8.4.0-x', connectionId: 1, authPlugin: 'mysql_native_password' });
    expect([...handshake.salt]).toEqual(Array.from({ length: 20 }, () => 1));
    expect(has(handshake.capabilities, capabilities.ssl | capabilities.compress | capabilities.localFiles)).toBe(false);
  });

  test('lets everybody in where there is no password', async () => {
    const { client, server } = open();
    expect(told(await client.login({ password: 'anything' }))).toEqual(['OK 2']);
    expect(server.connects).toMatchObject([{ id: 1, user: 'ann', database: 'test' }]);
  });

  test.each([
    ['right', 'secret', ['OK 2'], false],
    ['wrong', 'Secret', [denied], true],
    ['missing', '', [denied.replace('YES', 'NO')], true],
  ])('with the password %s', async (_name, password, answer, isClosed) => {
    const { client } = open({ password: 'secret' });
    expect(told(await client.login({ password }))).toEqual(answer);
    expect(client.isClosed).toBe(isClosed);
  });

  test('by caching_sha2_password', async () => {
    const { client } = open({ password: 'secret' });
    const { salt } = await client.handshake();
    const proof = authResponse('caching_sha2_password', 'secret', salt);
    client.write(response({ authPlugin: 'caching_sha2_password', authResponse: proof }), 1);
    const [more, ok] = await client.packets();
    expect([...(more?.payload ?? [])]).toEqual([1, 3]);
    expect(ok?.sequence).toBe(3);
    expect(ok?.payload[0]).toBe(0);
  });

  test.each([
    ['right', 'secret', ['OK 2']],
    ['wrong', 'x', [denied]],
  ])('switches from a plug-in that it does not know; password %s', async (_name, password, answer) => {
    const { client } = open({ password: 'secret' });
    await client.handshake();
    client.write(response({ authPlugin: 'client_ed25519', authResponse: Uint8Array.of(1, 2) }), 1);
    const [request] = await client.packets();
    const { authPlugin, data } = decodeAuthSwitch(request?.payload ?? new Uint8Array());
    expect(authPlugin).toBe('mysql_native_password');
    client.write(authResponse('mysql_native_password', password, data), 3);
    expect(told(await client.packets())).toEqual(answer);
  });

  test.each([
    ['a request for TLS', tlsRequest(), 1, 'ERR 1043 08S01 Bad handshake: this server has no TLS'],
    ['a client older than 4.1', new Uint8Array(40), 1, 'ERR 1835 HY000 Malformed'],
    ['a packet out of order', new Uint8Array(40), 2, 'ERR 1835 HY000 Malformed'],
    ['a database that is not there', response({ database: 'missing' }), 1, "ERR 1049 42000 Unknown database 'missing'"],
  ])('refuses %s', async (_name, payload, sequence, answer) => {
    const { client } = open();
    await client.handshake();
    client.write(payload, sequence);
    expect(told(await client.packets())).toEqual([expect.stringContaining(answer)]);
    expect(client.isClosed).toBe(true);
  });

  test('refuses the one too many before anything else', async () => {
    const client = new RawClient(open().start, 'full');
    expect(told(await client.packets())).toEqual(['ERR 1040 08004 Too many connections']);
    expect(client.isClosed).toBe(true);
  });
});

function response(given: Partial<Parameters<typeof encodeHandshakeResponse>[0]>): Uint8Array {
  return encodeHandshakeResponse({
    capabilities: clientFlags,
    packetBytesMax: 1 << 24,
    characterSet: 45,
    user: 'ann',
    authResponse: new Uint8Array(),
    database: '',
    authPlugin: '',
    attributes: new Map(),
    ...given,
  });
}

function tlsRequest(): Uint8Array {
  return response({ capabilities: clientFlags | capabilities.ssl }).subarray(0, 32);
}

describe('queries', () => {
  test('rows, with EOF packets around them', async () => {
    const { client } = await loggedIn();
    const [count, definition, eof, row, end] = await client.query('select 1');
    expect([count, eof, end].map((packet) => packet?.payload.length)).toEqual([1, 5, 5]);
    expect(definition?.sequence).toBe(2);
    expect(decodeTextRow(row?.payload ?? new Uint8Array(), 1)).toEqual([Buffer.from('1')]);
  });

  test('rows, with an OK at their end', async () => {
    const { client } = await loggedIn({}, clientFlags | capabilities.deprecateEof);
    const packets = await client.query('select 1');
    expect(packets).toHaveLength(4);
    expect(packets[3]?.payload[0]).toBe(0xfe);
    expect(decodeOk(packets[3]?.payload ?? new Uint8Array(), 0).status).toBe(2);
  });

  test.each([
    ['changed rows', clientFlags, 2n],
    ['found rows, for those who want them', clientFlags | capabilities.foundRows, 3n],
  ])('%s of an update', async (_name, flags, affectedRows) => {
    const { client } = await loggedIn({}, flags);
    const [ok] = await client.query('update t');
    const info = 'Rows matched: 3  Changed: 2  Warnings: 0';
    expect(decodeOk(ok?.payload ?? new Uint8Array(), 0)).toMatchObject({ affectedRows, info });
  });

  test('the number that a row was given', async () => {
    const { client } = await loggedIn();
    const [ok] = await client.query('insert t');
    expect(decodeOk(ok?.payload ?? new Uint8Array(), 0)).toMatchObject({ affectedRows: 1n, insertId: 42n, info: '' });
  });

  test('the state of the transaction', async () => {
    const { client } = await loggedIn();
    expect(told(await client.query('begin'))).toEqual(['OK 3']);
    expect(told(await client.query('commit'))).toEqual(['OK 2']);
    expect(told(await client.query('set autocommit=0'))).toEqual(['OK 0']);
  });

  test('several statements, up to the first that fails', async () => {
    const { client } = await loggedIn({}, clientFlags | capabilities.multiStatements);
    expect(told(await client.query('begin; update t; wrong; select 1'))).toEqual([
      'OK 11',
      'OK 11',
      'ERR 1064 42000 no statement: wrong',
    ]);
    expect(told(await client.query('commit; update t'))).toEqual(['OK 10', 'OK 2']);
  });

  test('several statements only for those who asked for it', async () => {
    const { client } = await loggedIn();
    expect(told(await client.query('begin; commit'))).toEqual([expect.stringContaining('ERR 1064 42000 You have')]);
    expect(told(await client.ask({ kind: 'set-option', option: 0 }))).toEqual(['OK 2']);
    expect(told(await client.query('begin; commit'))).toEqual(['OK 11', 'OK 2']);
    await client.ask({ kind: 'set-option', option: 1 });
    expect(told(await client.query('begin; commit'))).toEqual([expect.stringContaining('ERR 1064')]);
  });

  test('nothing is an error', async () => {
    const { client } = await loggedIn();
    expect(told(await client.query(' ; '))).toEqual(['ERR 1065 42000 Query was empty']);
  });

  test('a bug of ours is told here, and hidden there; the connection lives on', async () => {
    const onBug = vi.fn<(error: unknown) => void>();
    const { client } = await loggedIn({ onBug });
    expect(told(await client.query('bug'))).toEqual(['ERR 1105 HY000 internal error']);
    expect(onBug).toHaveBeenCalledWith(new TypeError('of ours'));
    expect(told(await client.ask({ kind: 'ping' }))).toEqual(['OK 2']);
  });
});

describe('commands', () => {
  test.each([
    [{ kind: 'ping' }, 'OK 2'],
    [{ kind: 'init-db', database: 'shop' }, 'OK 2'],
    [{ kind: 'statistics' }, '10 bytes'],
    [
      { kind: 'field-list', table: 't', wildcard: 'a%' },
      'ERR 1235 42000 COM_FIELD_LIST with a pattern is not supported by moirai',
    ],
    [{ kind: 'field-list', table: 'x', wildcard: '' }, 'ERR 1064 42000 no statement: SELECT * FROM `x`'],
    [{ kind: 'unknown', code: 0x12, body: new Uint8Array() }, 'ERR 1047 08S01 Unknown command'],
    [{ kind: 'set-option', option: 2 }, 'ERR 1047 08S01 Unknown command'],
    [{ kind: 'process-kill', connectionId: 99 }, 'ERR 1094 HY000 Unknown thread id: 99'],
    [
      { kind: 'stmt-reset', statementId: 9 },
      'ERR 1243 HY000 Unknown prepared statement handler (9) given to mysqld_stmt_reset',
    ],
    [
      { kind: 'stmt-fetch', statementId: 9, rows: 1 },
      'ERR 1243 HY000 Unknown prepared statement handler (9) given to mysqld_stmt_fetch',
    ],
  ] as const)('%j', async (command, answer) => {
    const { client } = await loggedIn();
    expect(told(await client.ask(command))).toEqual([answer]);
  });

  test('malformed in a packet of its own: the next is understood', async () => {
    const { client } = await loggedIn();
    client.write(new Uint8Array(), 0);
    client.write(Uint8Array.of(0x0e, 1), 0);
    client.write(Uint8Array.of(0x0e), 0);
    expect(told(await client.packets())).toEqual([
      expect.stringContaining('ERR 1835'),
      expect.stringContaining('ERR 1835'),
      'OK 2',
    ]);
  });

  test('out of order: the end', async () => {
    const { client, server } = await loggedIn();
    client.write(Uint8Array.of(0x0e), 1);
    expect(told(await client.packets())).toEqual(['ERR 1156 08S01 Got packets out of order']);
    expect(client.isClosed).toBe(true);
    expect(server.sessions.size).toBe(0);
  });

  test('too large: the end', async () => {
    const { client } = await loggedIn({ packetBytesMax: 1000 });
    expect(told(await client.query('x'.repeat(1000)))).toEqual([expect.stringContaining('ERR 1153 08S01')]);
    expect(client.isClosed).toBe(true);
  });

  test('quit, and the end of the stream, close the session', async () => {
    for (const end of ['quit', 'ended', 'closed'] as const) {
      const { client, server } = await loggedIn();
      expect(server.sessions.size).toBe(1);
      if (end === 'quit') await client.ask({ kind: 'quit' });
      else client.conversation[end]();
      await turn();
      expect([server.sessions.size, client.isClosed]).toEqual([0, true]);
    }
  });

  test('what came before the end of the stream is answered', async () => {
    const { client } = await loggedIn();
    client.write(Uint8Array.of(0x0e), 0);
    client.write(Uint8Array.of(0x0e), 0);
    client.conversation.ended();
    expect(told(await client.packets())).toEqual(['OK 2', 'OK 2']);
    expect(client.isClosed).toBe(true);
  });

  test('a connection is as new after a reset, with the same number', async () => {
    const { client, server } = await loggedIn();
    await client.ask({ kind: 'stmt-prepare', sql: Buffer.from('select ?') });
    await client.query('begin');
    expect(told(await client.ask({ kind: 'reset-connection' }))).toEqual(['OK 2']);
    expect(server.connects.map(({ id }) => id)).toEqual([1, 1]);
    expect(server.sessions.size).toBe(1);
    expect(told(await client.ask({ kind: 'stmt-reset', statementId: 1 }))).toEqual([
      expect.stringContaining('ERR 1243'),
    ]);
  });

  test('another user', async () => {
    const { client, server } = open({ password: 'secret' });
    const { salt } = await client.handshake();
    const proof = authResponse('mysql_native_password', 'secret', salt);
    client.write(response({ authResponse: proof }), 1);
    await client.packets();
    const user = { user: 'bob', database: 'shop', characterSet: 45, authPlugin: 'mysql_native_password' };
    const command = { kind: 'change-user', attributes: new Map<string, string>(), ...user } as const;
    expect(told(await client.ask({ ...command, authResponse: proof }))).toEqual(['OK 2']);
    expect(server.connects.at(-1)).toMatchObject({ user: 'bob', database: 'shop' });
    expect(told(await client.ask({ ...command, authResponse: Uint8Array.of(1) }))).toEqual([
      denied.replace('ann', 'bob'),
    ]);
    expect([client.isClosed, server.sessions.size]).toEqual([true, 0]);
  });
});

describe('KILL', () => {
  test.each(['kill query 1', 'KILL QUERY 1 ;'])('%s ends a statement', async (sql) => {
    const { client, start } = await loggedIn();
    const other = new RawClient(start);
    await other.login();
    expect(await client.query('wait')).toEqual([]);
    expect(told(await other.query(sql))).toEqual(['OK 2']);
    expect(told(await client.packets())).toEqual(['ERR 1317 70100 Query execution was interrupted']);
    expect(told(await client.ask({ kind: 'ping' }))).toEqual(['OK 2']);
  });

  test('its own statement, and its own connection', async () => {
    const { client } = await loggedIn();
    const interrupted = ['ERR 1317 70100 Query execution was interrupted'];
    expect(told(await client.query('KILL QUERY CONNECTION_ID()'))).toEqual(interrupted);
    expect(told(await client.ask({ kind: 'ping' }))).toEqual(['OK 2']);
    expect(told(await client.query('kill 1'))).toEqual(interrupted);
    expect(client.isClosed).toBe(true);
  });

  test.each(['statement', 'command'])('a connection, by %s', async (how) => {
    const { client, start, server } = await loggedIn();
    const other = new RawClient(start);
    await other.login();
    await client.query('wait');
    const answer = how === 'statement' ? other.query('kill 1') : other.ask({ kind: 'process-kill', connectionId: 1 });
    expect(told(await answer)).toEqual(['OK 2']);
    expect([client.isClosed, server.sessions.size]).toEqual([true, 1]);
    expect(told(await other.query('kill 1'))).toEqual(['ERR 1094 HY000 Unknown thread id: 1']);
  });

  test('a connection of another listener, which learns of it with its next statement', async () => {
    const { client, server } = await loggedIn();
    const elsewhere = new RawClient(mysqlConversations({ server, randomBytes: (count) => new Uint8Array(count) }));
    expect((await elsewhere.handshake()).connectionId).toBe(2);
    elsewhere.write(response({}), 1);
    await elsewhere.packets();
    expect(told(await client.query('kill 2'))).toEqual(['OK 2']);
    expect(told(await elsewhere.query('select 1'))).toEqual([
      'ERR 1053 08S01 terminating connection due to administrator command',
    ]);
    expect(elsewhere.isClosed).toBe(true);
  });

  test('a session without a connection', async () => {
    const { client, server } = await loggedIn();
    const session = server.connect({ user: '', database: '', parameters: new Map(), onParameter: () => undefined });
    const waiting = session.execute(session.prepare('wait'), []).catch((error: unknown) => error);
    expect(told(await client.query(`kill query ${session.id}`))).toEqual(['OK 2']);
    expect(await waiting).toMatchObject({ code: '57014' });
  });
});

describe('prepared statements', () => {
  const varString: BinaryType = { type: columnType.varString, isUnsigned: false };
  const double: BinaryType = { type: columnType.double, isUnsigned: false };

  async function prepared(sql: string, more: Partial<MysqlOptions> = {}) {
    const all = await loggedIn(more);
    const [ok, ...definitions] = await all.client.ask({ kind: 'stmt-prepare', sql: Buffer.from(sql) });
    const { statementId, parameters } = decodePrepareOk(ok?.payload ?? new Uint8Array());
    const execute = (cells: readonly (readonly [BinaryType, BinaryValue])[], sendsTypes = true) => {
      const execution = { cursor: 0, types: cells.map(([type]) => type), values: cells.map(([, value]) => value) };
      return all.client.ask({ kind: 'stmt-execute', statementId, body: encodeExecution(execution, sendsTypes) });
    };
    return { ...all, statementId, parameters, definitions, execute };
  }

  test('tell of parameters and columns', async () => {
    const { parameters, definitions } = await prepared('select ?');
    expect(parameters).toBe(1);
    expect(told(definitions).filter((what) => what === 'EOF')).toHaveLength(2);
    expect(definitions).toHaveLength(4);
  });

  test('are executed again without types', async () => {
    const { execute } = await prepared('select ?');
    const rows = [await execute([[double, 7]]), await execute([[double, 8]], false), await execute([[double, null]])];
    // A zero byte, the null bitmap, the number.
    expect(rows.map((packets) => [...(packets[3]?.payload ?? [])])).toEqual([
      [0, 0, 7, 0, 0, 0],
      [0, 0, 8, 0, 0, 0],
      [0, 4],
    ]);
  });

  test('without types the first time: an error, and the connection lives on', async () => {
    const { execute } = await prepared('select ?');
    expect(told(await execute([[double, 7]], false))).toEqual([expect.stringContaining('ERR 1835')]);
    expect(await execute([[double, 7]])).toHaveLength(5);
  });

  test('take long data in pieces, once', async () => {
    const run = vi.fn<(parameters: readonly unknown[]) => ReturnType<typeof statementResult>>(() =>
      statementResult('DO'),
    );
    const server = new ScriptedServer({ 'do ?': { parameterTypes: [types.text], run } });
    const { client, statementId } = await prepared('do ?', { server });
    const body = Buffer.concat([encodeExecution({ cursor: 0, types: [varString], values: [null] }, true)]);
    const piece = (text: string) =>
      client.ask({ kind: 'stmt-send-long-data', statementId, parameter: 0, data: Buffer.from(text) });
    expect([await piece('ab'), await piece('c')]).toEqual([[], []]);
    expect(told(await client.ask({ kind: 'stmt-execute', statementId, body }))).toEqual(['OK 2']);
    await piece('forgotten');
    await client.ask({ kind: 'stmt-reset', statementId });
    await client.ask({ kind: 'stmt-execute', statementId, body });
    expect(run.mock.calls).toEqual([[['abc']], [[null]]]);
  });

  test.each([
    ['too much', 0, 1001, 'ERR 1153'],
    ['for no parameter', 7, 1, 'ERR 1210'],
  ])('long data %s is an error of the execution', async (_name, parameter, length, answer) => {
    const { client, statementId, execute } = await prepared('select ?', { packetBytesMax: 1000 });
    for (let left = length; left > 0; left -= 500)
      await client.ask({
        kind: 'stmt-send-long-data',
        statementId,
        parameter,
        data: new Uint8Array(Math.min(left, 500)),
      });
    expect(told(await execute([[double, 7]]))).toEqual([expect.stringContaining(answer)]);
    expect(await execute([[double, 7]])).toHaveLength(5);
  });

  test('are closed without an answer', async () => {
    const { client, statementId, execute } = await prepared('select ?');
    expect(told(await client.ask({ kind: 'stmt-fetch', statementId, rows: 1 }))).toEqual([
      `ERR 1421 HY000 The statement (${statementId}) has no open cursor.`,
    ]);
    expect(await client.ask({ kind: 'stmt-close', statementId })).toEqual([]);
    expect(told(await execute([[double, 7]]))).toEqual([expect.stringContaining('ERR 1243')]);
  });

  test('have a limit', async () => {
    const { client, statementId } = await prepared('select ?', { statementsMax: 1 });
    const again = { kind: 'stmt-prepare', sql: Buffer.from('select ?') } as const;
    expect(told(await client.ask(again))).toEqual([expect.stringContaining('ERR 1461 42000')]);
    await client.ask({ kind: 'stmt-close', statementId });
    expect(await client.ask(again)).toHaveLength(5);
  });

  test.each([
    ['begin; commit', 'ERR 1064'],
    ['', 'ERR 1065'],
    ['wrong', 'ERR 1064'],
  ])('of %j are refused', async (sql, answer) => {
    const { client } = await loggedIn();
    expect(told(await client.ask({ kind: 'stmt-prepare', sql: Buffer.from(sql) }))).toEqual([
      expect.stringContaining(answer),
    ]);
  });
});
