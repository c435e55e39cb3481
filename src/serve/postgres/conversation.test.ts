import { describe, expect, test } from 'vitest';
import type { BackendMessage, FrontendMessage } from '../../wire/postgres/index.ts';
import { brief, frontendBytes, quiet, RawClient, started, sync } from './client.test-support.ts';

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
