import { describe, expect, test } from 'vitest';
import type { BackendMessage, FrontendMessage } from '../wire/postgres/index.ts';
import {
  encodePassword,
  encodeSaslInitialResponse,
  md5Password,
  scramClientFinal,
  scramClientFirst,
} from '../wire/postgres/index.ts';
import {
  brief,
  countingBytes,
  frontendBytes,
  quiet,
  RawClient,
  type RawClientOptions,
} from './postgres-client.test-support.ts';

async function started(options: RawClientOptions = {}): Promise<RawClient> {
  const client = new RawClient(options);
  await client.startUp();
  return client;
}

const sync: FrontendMessage = { kind: 'sync' };
const parse = (sql: string, statement = '', parameterTypes: number[] = []): FrontendMessage => ({
  kind: 'parse',
  statement,
  sql,
  parameterTypes,
});
const bind = (
  values: (string | Uint8Array | null)[] = [],
  given: Partial<Extract<FrontendMessage, { kind: 'bind' }>> = {},
): FrontendMessage => ({
  kind: 'bind',
  portal: '',
  statement: '',
  parameterFormats: [],
  values: values.map((value) => (typeof value === 'string' ? Buffer.from(value) : value)),
  resultFormats: [],
  ...given,
});
const execute = (rowsMax = 0, portal = ''): FrontendMessage => ({ kind: 'execute', portal, rowsMax });
const describeOf = (target: 'statement' | 'portal', name = ''): FrontendMessage => ({ kind: 'describe', target, name });
const close = (target: 'statement' | 'portal', name = ''): FrontendMessage => ({ kind: 'close', target, name });

describe('start-up', () => {
  test('without a password: settings, a key, ready', async () => {
    const client = new RawClient();
    const heard = await client.startUp({ user: 'ann', database: 'shop', application_name: 'till' });
    expect(brief(heard)).toEqual([
      'authentication ok',
      'application_name=till',
      'client_encoding=UTF8',
      'DateStyle=ISO, MDY',
      'default_transaction_read_only=off',
      'in_hot_standby=off',
      'integer_datetimes=on',
      'IntervalStyle=postgres',
      'is_superuser=on',
      'server_encoding=UTF8',
      'server_version=15.18',
      'session_authorization=ann',
      'standard_conforming_strings=on',
      'TimeZone=UTC',
      'backend-key-data',
      'ready idle',
    ]);
    expect(client.server.connects).toMatchObject([{ user: 'ann', database: 'shop' }]);
  });

  test('the database is named like the user, options become settings', async () => {
    const client = new RawClient();
    await client.startUp({ user: 'ann', options: '-c lock_timeout=5s --search-path=a\\ b -cx.y=1', DateStyle: 'ISO' });
    const [connect] = client.server.connects;
    expect(connect?.database).toBe('ann');
    expect([...(connect?.parameters ?? [])]).toEqual([
      ['lock_timeout', '5s'],
      ['search_path', 'a b'],
      ['x.y', '1'],
      ['DateStyle', 'ISO, MDY'],
    ]);
  });

  test('settings that the client brings are reported', async () => {
    const heard = await new RawClient().startUp({ user: 'ann', timezone: 'Asia/Tokyo', DateStyle: 'ISO' });
    expect(brief(heard)).toEqual(expect.arrayContaining(['TimeZone=Asia/Tokyo', 'DateStyle=ISO, MDY']));
  });

  test('SSLRequest and GSSENCRequest are declined, the start-up goes on', async () => {
    const client = new RawClient();
    for (const kind of ['ssl-request', 'gssenc-request'] as const) {
      client.awaitsByte = true;
      await client.packet({ kind });
    }
    expect(client.bytes).toBe('NN');
    expect(brief(await client.startUp()).at(-1)).toBe('ready idle');
  });

  test('protocol 3.2: a longer key', async () => {
    const key = (heard: BackendMessage[]) =>
      heard.find((message) => message.kind === 'backend-key-data')?.secret.length;
    expect(key(await new RawClient().startUp({ user: 'ann' }, 0))).toBe(4);
    expect(key(await new RawClient().startUp({ user: 'ann' }, 2))).toBe(32);
  });

  test('a newer minor version and unknown options are negotiated', async () => {
    const heard = await new RawClient().startUp({ user: 'ann', '_pq_.compression': 'zstd' }, 9999);
    expect(heard[0]).toEqual({ kind: 'negotiate-protocol-version', version: 0x30002, options: ['_pq_.compression'] });
    expect(brief(heard).at(-1)).toBe('ready idle');
  });

  test.each([
    ['no user', {}, '28000'],
    ['replication', { user: 'ann', replication: 'database' }, '0A000'],
    ['another encoding', { user: 'ann', client_encoding: 'LATIN1' }, '0A000'],
    ['options that are none', { user: 'ann', options: '-x' }, '42601'],
    ['a database that does not exist', { user: 'ann', database: 'missing' }, '3D000'],
  ])('refused: %s', async (_name, parameters, code) => {
    const client = new RawClient();
    expect(brief(await client.startUp(parameters as Record<string, string>)).at(-1)).toBe(`FATAL ${code}`);
    expect(client.isClosed).toBe(true);
    expect(client.server.sessions.size).toBe(0);
  });

  test('refused: protocol 2', async () => {
    const client = new RawClient();
    const heard = await client.packet({ kind: 'startup', major: 2, minor: 0, parameters: new Map() });
    expect(heard[0]).toMatchObject({
      fields: { code: '0A000', message: 'unsupported frontend protocol 2.0: server supports 3.0 to 3.2' },
    });
    expect(client.isClosed).toBe(true);
  });

  test('refused: too many connections', async () => {
    const client = new RawClient({ admission: 'full' });
    expect(brief(await client.startUp())).toEqual(['FATAL 53300']);
    expect(client.isClosed).toBe(true);
  });

  test.each(["'utf-8'", 'UTF8', 'unicode', 'SQL_ASCII'])('the encoding %s is welcome', async (name) => {
    expect(brief(await new RawClient().startUp({ user: 'ann', client_encoding: name })).at(-1)).toBe('ready idle');
  });
});

describe('passwords', () => {
  const answer = (data: Uint8Array): FrontendMessage => ({ kind: 'authentication-response', data });

  async function scram(password: string): Promise<RawClient & { last: string[] }> {
    const client = new RawClient({ password: 'secret' });
    expect(await client.startUp()).toMatchObject([{ request: { method: 'sasl', mechanisms: ['SCRAM-SHA-256'] } }]);
    const first = encodeSaslInitialResponse({ mechanism: 'SCRAM-SHA-256', data: scramClientFirst('nonce') });
    const [challenge] = await client.say(answer(first));
    const { request } = challenge as Extract<BackendMessage, { kind: 'authentication' }>;
    const final = scramClientFinal('nonce', password, (request as { data: Uint8Array }).data);
    return Object.assign(client, { last: brief(await client.say(answer(final.data))) });
  }

  test('SCRAM lets the right one in', async () => {
    const { last } = await scram('secret');
    expect(last.slice(0, 2)).toEqual(['authentication sasl-final', 'authentication ok']);
    expect(last.at(-1)).toBe('ready idle');
  });

  test('SCRAM keeps the wrong one out', async () => {
    const client = await scram('guess');
    expect(client.last).toEqual(['FATAL 28P01']);
    expect(client.isClosed).toBe(true);
    expect(client.server.connects).toEqual([]);
  });

  test('another mechanism, a message that is not SCRAM, a query instead', async () => {
    for (const [message, code] of [
      [answer(encodeSaslInitialResponse({ mechanism: 'PLAIN', data: null })), '08P01'],
      [answer(encodeSaslInitialResponse({ mechanism: 'SCRAM-SHA-256', data: Buffer.from('hello') })), '08P01'],
      [answer(new Uint8Array(0)), '08P01'],
      [{ kind: 'query', sql: 'rows 1' }, '08P01'],
    ] as const) {
      const client = new RawClient({ password: 'secret' });
      await client.startUp();
      expect(brief(await client.say(message))).toEqual([`FATAL ${code}`]);
      expect(client.server.connects).toEqual([]);
    }
  });

  test.each(['cleartext', 'md5'] as const)('%s', async (passwordMethod) => {
    for (const [given, isRight] of [
      ['secret', true],
      ['guess', false],
    ] as const) {
      const client = new RawClient({ password: 'secret', passwordMethod });
      expect(brief(await client.startUp())).toEqual([`authentication ${passwordMethod}`]);
      const password = passwordMethod === 'md5' ? md5Password(given, 'ann', countingBytes(4)) : given;
      const heard = brief(await client.say(answer(encodePassword(password))));
      expect(heard.at(-1)).toBe(isRight ? 'ready idle' : 'FATAL 28P01');
    }
  });
});

describe('simple queries', () => {
  test('rows, counts and commands without counts', async () => {
    const client = await started();
    expect(brief(await client.query('rows 2'))).toEqual([
      'columns n label',
      '0|row 0',
      '1|row 1',
      'SELECT 2',
      'ready idle',
    ]);
    expect(brief(await client.query('insert 3'))).toEqual(['INSERT 0 3', 'ready idle']);
    expect(brief(await client.query('begin'))).toEqual(['BEGIN', 'ready open']);
    expect(brief(await client.query('commit'))).toEqual(['COMMIT', 'ready idle']);
  });

  test('columns are described', async () => {
    const [columns] = await (await started()).query('rows 0');
    const rest = { tableOid: 0, columnNumber: 0, typeModifier: -1, format: 0 };
    expect(columns).toEqual({
      kind: 'row-description',
      fields: [
        { name: 'n', typeOid: 23, typeSize: 4, ...rest },
        { name: 'label', typeOid: 25, typeSize: -1, ...rest },
      ],
    });
  });

  test('several statements; the first error ends them', async () => {
    const client = await started();
    expect(brief(await client.query('insert 1; rows 1; fail 23505 no; insert 2'))).toEqual([
      'INSERT 0 1',
      'columns n label',
      '0|row 0',
      'SELECT 1',
      'ERROR 23505',
      'ready idle',
    ]);
  });

  test('nothing', async () => {
    const client = await started();
    expect(brief(await client.query(''))).toEqual(['empty-query-response', 'ready idle']);
    expect(brief(await client.query(' ; '))).toEqual(['empty-query-response', 'ready idle']);
  });

  test('an error has all of its fields and fails the transaction', async () => {
    const client = await started();
    await client.query('begin');
    const [error, ready] = await client.query('fail 23505 duplicate key');
    expect(error).toEqual({
      kind: 'error-response',
      fields: {
        severity: 'ERROR',
        severityName: 'ERROR',
        code: '23505',
        message: 'duplicate key',
        detail: 'a detail',
        table: 't',
        constraint: 't_pkey',
      },
    });
    expect(ready).toEqual({ kind: 'ready-for-query', status: 'failed' });
    expect(brief(await client.query('rollback'))).toEqual(['ROLLBACK', 'ready idle']);
  });

  test('a syntax error has its position', async () => {
    const [error] = await (await started()).query('slect 1');
    expect(error).toMatchObject({ fields: { code: '42601', position: '1' } });
  });

  test('the position of an error is one in the whole text', async () => {
    const client = await started();
    const text = 'notice \u{1f511}; rows 0;  nonsense';
    const heard = await client.query(text);
    expect(heard.at(-2)).toMatchObject({
      fields: { position: String(Array.from(text).length - 'nonsense'.length + 1) },
    });
  });

  test('a bug of ours is an internal error; the connection lives on', async () => {
    const client = await started();
    const heard = await client.query('bug');
    expect(brief(heard)).toEqual(['ERROR XX000', 'ready idle']);
    expect(heard[0]).toMatchObject({ fields: { message: 'internal error' } });
    expect(client.bugs).toEqual([new TypeError('a bug of ours')]);
    expect(brief(await client.query('insert 1'))).toEqual(['INSERT 0 1', 'ready idle']);
  });

  test('a notice comes before the end, a changed setting before ready', async () => {
    const client = await started();
    expect(brief(await client.query('notice look out'))).toEqual(['NOTICE look out', 'DO', 'ready idle']);
    expect(brief(await client.query('set TimeZone Asia/Tokyo'))).toEqual(['SET', 'TimeZone=Asia/Tokyo', 'ready idle']);
  });

  test('parameters have no place', async () => {
    expect(brief(await (await started()).query('echo int4'))).toEqual(['ERROR 42P02', 'ready idle']);
  });

  test('a function call by message, COPY data without COPY', async () => {
    const client = await started();
    const call = { kind: 'function-call', functionOid: 1, argumentFormats: [], values: [], resultFormat: 0 } as const;
    expect(brief(await client.say(call))).toEqual(['ERROR 0A000', 'ready idle']);
    const copy: FrontendMessage[] = [
      { kind: 'copy-data', data: Buffer.from('x') },
      { kind: 'copy-done' },
      { kind: 'copy-fail', reason: '' },
    ];
    expect(brief(await client.say(...copy, { kind: 'query', sql: '' }))).toEqual([
      'empty-query-response',
      'ready idle',
    ]);
  });
});

test('a message is answered whenever it comes, also while the one before is being finished', async () => {
  const client = await started();
  for (let delay = 0; delay < 30; delay++) {
    client.conversation.receive(frontendBytes({ kind: 'query', sql: 'insert 1' }));
    for (let turn = 0; turn < delay; turn++) await Promise.resolve();
    const heard = await client.query('insert 2');
    expect(brief(heard)).toEqual(['INSERT 0 1', 'ready idle', 'INSERT 0 2', 'ready idle']);
  }
});

describe('the extended protocol', () => {
  test('a batch in one piece, with text parameters', async () => {
    const client = await started();
    const batch = [
      parse('echo int4 text'),
      describeOf('statement'),
      bind(['42', null]),
      describeOf('portal'),
      execute(),
      sync,
    ];
    expect(brief(await client.say(...batch))).toEqual([
      'parse-complete',
      'parameters 23 25',
      'columns p1 p2',
      'bind-complete',
      'columns p1 p2',
      '42|null',
      'SELECT 1',
      'ready idle',
    ]);
  });

  test('binary both ways, by one format for all and one for each', async () => {
    const client = await started();
    const seven = Buffer.from([0, 0, 0, 7]);
    const values = [seven, Buffer.from('x')];
    for (const formats of [[1], [1, 1]]) {
      const heard = await client.say(
        parse('echo int4 text'),
        bind(values, { parameterFormats: formats, resultFormats: formats }),
        describeOf('portal'),
        execute(),
        sync,
      );
      expect(heard).toContainEqual({ kind: 'data-row', values });
      expect(heard[2]).toMatchObject({ fields: [{ format: 1 }, { format: 1 }] });
    }
    const mixed = await client.say(
      parse('echo int4 int4'),
      bind([seven, '8'], { parameterFormats: [1, 0], resultFormats: [0, 1] }),
      execute(),
      sync,
    );
    expect(mixed).toContainEqual({ kind: 'data-row', values: [Buffer.from('7'), Buffer.from([0, 0, 0, 8])] });
  });

  test('the types that a client names win; 0 leaves them open', async () => {
    const client = await started();
    const heard = await client.say(parse('echo int4 int4', '', [20, 0]), describeOf('statement'), sync);
    expect(brief(heard)[1]).toBe('parameters 20 23');
  });

  test('statements with a name stay, portals go with the transaction', async () => {
    const client = await started();
    await client.say(parse('echo int4', 's'), sync);
    const again = [bind(['1'], { statement: 's', portal: 'p' }), execute(0, 'p'), sync];
    const expected = ['bind-complete', '1', 'SELECT 1', 'ready idle'];
    expect(brief(await client.say(...again))).toEqual(expected);
    expect(brief(await client.say(...again))).toEqual(expected);
    expect(brief(await client.say(execute(0, 'p'), sync))).toEqual(['ERROR 34000', 'ready idle']);
    expect(brief(await client.say(close('statement', 's'), sync))).toEqual(['close-complete', 'ready idle']);
    expect(brief(await client.say(...again))).toEqual(['ERROR 26000', 'ready idle']);
  });

  test('a portal gives its rows in parts, in an open transaction also after Sync', async () => {
    const client = await started();
    await client.query('begin');
    const first = await client.say(parse('rows 5'), bind([], { portal: 'p' }), execute(2, 'p'), sync);
    expect(brief(first)).toEqual([
      'parse-complete',
      'bind-complete',
      '0|row 0',
      '1|row 1',
      'portal-suspended',
      'ready open',
    ]);
    const rest = await client.say(execute(2, 'p'), execute(2, 'p'), execute(2, 'p'), sync);
    expect(brief(rest)).toEqual([
      '2|row 2',
      '3|row 3',
      'portal-suspended',
      '4|row 4',
      'SELECT 1',
      'SELECT 0',
      'ready open',
    ]);
    await client.query('commit');
    expect(brief(await client.say(execute(2, 'p'), sync))).toEqual(['ERROR 34000', 'ready idle']);
    expect(client.server.sessions.get(1)?.ran.filter((text) => text === 'rows 5')).toHaveLength(1);
  });

  test('as many rows as asked for: suspended, as PostgreSQL does', async () => {
    const heard = await (await started()).say(parse('rows 2'), bind(), execute(2), execute(2), sync);
    expect(brief(heard).slice(4)).toEqual(['portal-suspended', 'SELECT 0', 'ready idle']);
  });

  test('a portal without rows runs once', async () => {
    const heard = await (await started()).say(parse('insert 1'), bind(), execute(), execute(), sync);
    expect(brief(heard).slice(2)).toEqual(['INSERT 0 1', 'ERROR 55000', 'ready idle']);
  });

  test('the empty statement', async () => {
    const heard = await (await started()).say(parse(''), bind(), describeOf('portal'), execute(), sync);
    expect(brief(heard)).toEqual(['parse-complete', 'bind-complete', 'no-data', 'empty-query-response', 'ready idle']);
  });

  test('an error passes over everything up to Sync, also a simple query', async () => {
    const client = await started();
    const heard = await client.say(
      parse('insert 1'),
      bind(),
      execute(),
      parse('nonsense', 'n'),
      bind(),
      execute(),
      { kind: 'query', sql: 'insert 9' },
      { kind: 'flush' },
      sync,
      { kind: 'query', sql: 'insert 2' },
    );
    expect(brief(heard).slice(2)).toEqual(['INSERT 0 1', 'ERROR 42601', 'ready idle', 'INSERT 0 2', 'ready idle']);
    expect(client.server.sessions.get(1)?.ran).toEqual(['insert 1', 'insert 2']);
  });

  test('an error in Bind fails the open transaction', async () => {
    const client = await started();
    await client.query('begin');
    expect(brief(await client.say(parse('echo int4'), bind(['x']), sync))).toEqual([
      'parse-complete',
      'ERROR 22P02',
      'ready failed',
    ]);
  });

  test('answers come at Sync or Flush, not before', async () => {
    const client = await started();
    expect(await client.say(parse('insert 1'))).toEqual([]);
    expect(brief(await client.say({ kind: 'flush' }))).toEqual(['parse-complete']);
    expect(await client.say(bind(), execute())).toEqual([]);
    expect(brief(await client.say(sync))).toEqual(['bind-complete', 'INSERT 0 1', 'ready idle']);
  });

  test.each([
    ['a statement twice', [parse('rows 1', 's'), parse('rows 1', 's')], '42P05'],
    ['a portal twice', [parse('rows 1'), bind([], { portal: 'p' }), bind([], { portal: 'p' })], '42P03'],
    ['an unknown statement', [bind([], { statement: 'none' })], '26000'],
    ['no unnamed statement', [describeOf('statement')], '26000'],
    ['an unknown portal', [describeOf('portal', 'none')], '34000'],
    ['too few parameters', [parse('echo int4'), bind()], '08P01'],
    ['too many parameters', [parse('echo'), bind(['1'])], '08P01'],
    ['parameter formats', [parse('echo int4 int4 int4'), bind(['1', '2', '3'], { parameterFormats: [0, 0] })], '08P01'],
    ['result formats', [parse('rows 1'), bind([], { resultFormats: [0, 0, 0] })], '08P01'],
    ['an unknown format', [parse('rows 1'), bind([], { resultFormats: [2] })], '22023'],
    ['text that is not UTF-8', [parse('echo text'), bind([Buffer.from([0xff])])], '22021'],
    ['a zero byte', [parse('echo text'), bind([Buffer.from([0x61, 0])])], '22021'],
    ['a number that is none', [parse('echo int4'), bind(['one'])], '22P02'],
    ['a parameter of a type that we do not have', [parse('echo int4', '', [600])], '0A000'],
  ] as const)('%s', async (_name, messages, code) => {
    const client = await started();
    const heard = brief(await client.say(...messages, sync));
    expect(heard.slice(-2)).toEqual([`ERROR ${code}`, 'ready idle']);
    expect(brief(await client.query('insert 1'))).toEqual(['INSERT 0 1', 'ready idle']);
    expect(client.bugs).toEqual([]);
  });

  test('so many statements and no more', async () => {
    const client = await started({ preparedMax: 2 });
    const heard = await client.say(parse('rows 1', 'a'), parse('rows 1', 'b'), parse('rows 1', 'c'), sync);
    expect(brief(heard)).toEqual(['parse-complete', 'parse-complete', 'ERROR 54000', 'ready idle']);
  });
});

describe('statements that are one transaction', () => {
  const blocksOf = (client: RawClient) => client.server.sessions.get(1)?.blocks;

  test('those of a simple query; one alone commits by itself', async () => {
    const client = await started();
    await client.query('insert 1');
    expect(blocksOf(client)).toEqual([]);
    expect(brief(await client.query('insert 1; insert 2'))).toEqual(['INSERT 0 1', 'INSERT 0 2', 'ready idle']);
    expect(blocksOf(client)).toEqual(['begin', 'commit']);
  });

  test('an error in any of them, also one of syntax, rolls all back', async () => {
    for (const bad of ['fail 23505', 'nonsense', 'bug']) {
      const client = await started();
      expect(brief(await client.query(`insert 1; ${bad}; insert 2`)).at(-1)).toBe('ready idle');
      expect(blocksOf(client)).toEqual(['begin', 'end']);
    }
  });

  test('the last command is complete when the commit is', async () => {
    const client = await started();
    Object.assign(client.server.sessions.get(1) ?? {}, { failsCommit: true });
    expect(brief(await client.query('insert 1; insert 2'))).toEqual(['INSERT 0 1', 'ERROR 40001', 'ready idle']);
  });

  test('those up to Sync; one alone before it commits by itself', async () => {
    const client = await started();
    await client.say(parse('insert 1'), bind(), execute(), sync);
    expect(blocksOf(client)).toEqual([]);
    const both = [parse('insert 1'), bind(), execute(), bind(), execute()];
    const heard = ['INSERT 0 1', 'bind-complete', 'INSERT 0 1', 'ready idle'];
    expect(brief(await client.say(...both, sync)).slice(2)).toEqual(heard);
    expect(blocksOf(client)).toEqual(['begin', 'commit']);
    await client.say(...both, bind([], { statement: 'none' }), sync);
    expect(blocksOf(client)).toEqual(['begin', 'commit', 'begin', 'end']);
  });

  test('it does not matter how the stream is cut', async () => {
    const bytes = frontendBytes(
      parse('insert 1'),
      bind(),
      execute(),
      sync,
      parse('insert 1'),
      bind(),
      execute(),
      execute(),
      sync,
    );
    for (let cut = 1; cut < bytes.length; cut++) {
      const client = await started();
      client.conversation.receive(bytes.subarray(0, cut));
      await quiet();
      client.conversation.receive(bytes.subarray(cut));
      await quiet();
      expect(blocksOf(client)).toEqual(['begin', 'end']);
      expect(brief(client.heard).filter((text) => text.includes('INSERT'))).toHaveLength(2);
    }
  });

  test('an Execute without a Sync is run when the client has said all', async () => {
    const client = await started();
    expect(await client.say(parse('insert 1'), bind(), execute())).toEqual([]);
    const session = client.server.sessions.get(1);
    expect(session?.ran).toEqual([]);
    client.conversation.ended();
    await quiet();
    expect(session?.ran).toEqual(['insert 1']);
    expect(client.isClosed).toBe(true);
  });

  test('a commit that fails at Sync is told after the commands', async () => {
    const client = await started();
    Object.assign(client.server.sessions.get(1) ?? {}, { failsCommit: true });
    const heard = await client.say(parse('insert 1'), bind(), execute(), { kind: 'flush' }, sync);
    expect(brief(heard).slice(2)).toEqual(['INSERT 0 1', 'ERROR 40001', 'ready idle']);
  });
});

describe('cancel requests', () => {
  async function waiting(minor: number) {
    const client = new RawClient();
    const heard = await client.startUp({ user: 'ann' }, minor);
    const key = heard.find((message) => message.kind === 'backend-key-data') as Extract<
      BackendMessage,
      { kind: 'backend-key-data' }
    >;
    expect(await client.query('wait')).toEqual([]);
    return { client, key };
  }

  test.each([0, 2])('on another connection, protocol 3.%d', async (minor) => {
    const { client, key } = await waiting(minor);
    const other = new RawClient({ start: client.start, admission: 'full' });
    expect(await other.packet({ ...key, kind: 'cancel-request' })).toEqual([]);
    expect(other.isClosed).toBe(true);
    expect(brief(client.heard)).toEqual(['ERROR 57014', 'ready idle']);
  });

  test('with a wrong secret or for nobody: nothing happens, nothing is told', async () => {
    const { client, key } = await waiting(0);
    for (const request of [
      { ...key, secret: Buffer.from('none') },
      { ...key, secret: Buffer.from('longer') },
      { ...key, processId: 77 },
    ]) {
      const other = new RawClient({ start: client.start });
      expect(await other.packet({ ...request, kind: 'cancel-request' })).toEqual([]);
      expect(other.isClosed).toBe(true);
    }
    expect(client.heard).toEqual([]);
  });
});

describe('the end', () => {
  test('Terminate', async () => {
    const client = await started();
    expect(await client.say({ kind: 'terminate' }, { kind: 'query', sql: 'insert 1' })).toEqual([]);
    expect(client.isClosed).toBe(true);
    expect(client.server.sessions.size).toBe(0);
  });

  test('a client that has said everything is still answered', async () => {
    const client = await started();
    client.conversation.receive(frontendBytes({ kind: 'query', sql: 'insert 1' }, { kind: 'query', sql: 'insert 2' }));
    client.conversation.ended();
    await quiet();
    expect(brief(client.heard)).toEqual(['INSERT 0 1', 'ready idle', 'INSERT 0 2', 'ready idle']);
    expect(client.isClosed).toBe(true);
    expect(client.server.sessions.size).toBe(0);
  });

  test('a client that vanishes while its statement runs', async () => {
    const client = await started();
    await client.query('wait');
    const session = client.server.sessions.get(1);
    client.conversation.closed();
    expect(client.server.sessions.size).toBe(0);
    session?.cancel();
    await quiet();
    expect(client.heard).toEqual([]);
  });

  test('the server ends the session: FATAL', async () => {
    const client = await started();
    expect(brief(await client.query('fail 57P01 shutting down'))).toEqual(['FATAL 57P01']);
    expect(client.isClosed).toBe(true);
  });
});

describe('limits', () => {
  test('a frame over the limit is named and ends the connection', async () => {
    const client = await started({ frameBytesMax: 1000 });
    const [error] = await client.query('x'.repeat(1000));
    expect(error).toMatchObject({
      fields: {
        severityName: 'FATAL',
        code: '54000',
        message: expect.stringContaining('frameBytesMax = 1000') as string,
      },
    });
    expect(client.isClosed).toBe(true);
  });

  test('an unknown message type ends the connection', async () => {
    const client = await started();
    expect(brief(await client.raw(Buffer.from([0x21, 0, 0, 0, 4])))).toEqual(['FATAL 08P01']);
    expect(client.isClosed).toBe(true);
  });

  test('a broken body does not', async () => {
    const client = await started();
    expect(brief(await client.raw(Buffer.from([0x51, 0, 0, 0, 5, 0x61])))).toEqual(['ERROR 08P01', 'ready idle']);
    expect(brief(await client.raw(Buffer.from([0x45, 0, 0, 0, 5, 0x61])))).toEqual([]);
    expect(brief(await client.say(sync))).toEqual(['ERROR 08P01', 'ready idle']);
  });

  test('a client that sends while it is not answered is made to pause', async () => {
    const client = await started({ waitingBytesMax: 1000 });
    await client.query('wait');
    expect(client.isPaused).toBe(false);
    await client.raw(frontendBytes(...Array.from({ length: 300 }, () => sync)));
    expect(client.isPaused).toBe(true);
    client.server.sessions.get(1)?.cancel();
    await quiet();
    expect(client.isPaused).toBe(false);
    expect(brief(client.heard)).toEqual(['ERROR 57014', ...Array.from({ length: 301 }, () => 'ready idle')]);
  });

  test('a large message is not made to wait for itself', async () => {
    const client = await started({ waitingBytesMax: 1000 });
    const bytes = frontendBytes({ kind: 'query', sql: `rows 1${' '.repeat(5000)}` });
    expect(await client.raw(bytes.subarray(0, 4000))).toEqual([]);
    expect(client.isPaused).toBe(false);
    expect(brief(await client.raw(bytes.subarray(4000)))).toContain('SELECT 1');
  });

  test('a large result comes in pieces of at most 64 KiB that wait for the client', async () => {
    const client = await started();
    const fast = await client.query('rows 20000');
    expect(fast).toHaveLength(20_003);
    expect(Math.max(...client.pieces.map((piece) => piece.length))).toBeLessThanOrEqual(1 << 16);

    const slow = new RawClient({ isSlow: true });
    await slow.startUp();
    slow.conversation.drained();
    await quiet();
    slow.conversation.receive(frontendBytes({ kind: 'query', sql: 'rows 20000' }));
    let turns = 0;
    for (await quiet(); slow.heard.at(-1)?.kind !== 'ready-for-query'; await quiet()) {
      const { length } = slow.pieces;
      await quiet();
      expect(slow.pieces).toHaveLength(length);
      slow.conversation.drained();
      turns++;
    }
    expect(turns).toBeGreaterThan(5);
    expect(slow.heard).toEqual(fast);
  });

  test('a client that vanishes while a large result waits for it', async () => {
    const slow = new RawClient({ isSlow: true });
    await slow.startUp();
    slow.conversation.drained();
    await slow.query('rows 20000');
    const { length } = slow.pieces;
    slow.conversation.closed();
    await quiet();
    expect(slow.pieces).toHaveLength(length);
    expect(slow.server.sessions.size).toBe(0);
    expect(slow.bugs).toEqual([]);
  });
});
