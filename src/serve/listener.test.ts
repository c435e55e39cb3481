import { once } from 'node:events';
import { connect } from 'node:net';
import type { Duplex } from 'node:stream';
import { afterEach, describe, expect, test } from 'vitest';
import type { Conversation, StartConversation, Transport } from './conversation.ts';
import { converse } from './converse.ts';
import { duplexPair } from './duplex-pair.ts';
import { listen, type Listener, type ListenOptions } from './listener.ts';

/** Sends back what it hears; `quit` ends, `bug` throws. Keeps the calls it got. */
class Echo implements Conversation {
  readonly calls: string[] = [];
  readonly transport: Transport;

  constructor(transport: Transport, admission: 'welcome' | 'full') {
    this.transport = transport;
    this.say(admission);
    if (admission === 'full') transport.close();
  }

  say(text: string): void {
    this.transport.send(Buffer.from(`${text}\n`));
  }

  receive(chunk: Uint8Array): void {
    const text = Buffer.from(chunk).toString();
    if (text === 'bug') throw new Error('a bug');
    this.say(text);
    if (text === 'quit') this.transport.close();
  }

  ended(): void {
    this.calls.push('ended');
    this.say('bye');
    this.transport.close();
  }

  drained(): void {
    this.calls.push('drained');
  }

  closed(): void {
    this.calls.push('closed');
  }
}

const listeners: Listener[] = [];
const echoes: Echo[] = [];
const bugs: unknown[] = [];
const start: StartConversation = (transport, admission) => {
  const echo = new Echo(transport, admission);
  echoes.push(echo);
  return echo;
};

async function listening(options: ListenOptions = {}): Promise<Listener> {
  const listener = await listen(start, { onBug: (error) => void bugs.push(error), ...options });
  listeners.push(listener);
  return listener;
}

afterEach(async () => {
  for (const listener of listeners.splice(0)) await listener.close();
  echoes.length = 0;
  bugs.length = 0;
});

describe('a listener', () => {
  test('gives every connection a conversation', async () => {
    const { host, port } = await listening();
    expect(host).toBe('127.0.0.1');
    const [a, b] = [connect(port, host), connect(port, host)];
    expect(await heard(a)).toBe('welcome\n');
    expect(await heard(b)).toBe('welcome\n');
    a.write('hello');
    expect(await heard(a)).toBe('hello\n');
    a.destroy();
    b.destroy();
  });

  test('answers a client that has ended its side', async () => {
    const { host, port } = await listening();
    const socket = connect({ port, host, allowHalfOpen: true });
    await heard(socket);
    socket.end();
    expect(await heard(socket)).toBe('bye\n');
    await once(socket, 'end');
    expect(echoes[0]?.calls[0]).toBe('ended');
  });

  test('refuses connections over the limit, and takes new ones when there is room', async () => {
    const listener = await listening({ connectionsMax: 1 });
    const { host, port } = listener;
    const first = connect(port, host);
    expect(await heard(first)).toBe('welcome\n');
    const second = connect(port, host);
    expect(await heard(second)).toBe('full\n');
    expect(listener.connectionCount).toBe(1);
    first.destroy();
    await until(() => listener.connectionCount === 0);
    const third = connect(port, host);
    expect(await heard(third)).toBe('welcome\n');
    third.destroy();
    second.destroy();
  });

  test('lives on when a conversation throws or a socket breaks', async () => {
    const { host, port } = await listening();
    const [bad, broken, good] = [connect(port, host), connect(port, host), connect(port, host)];
    for (const socket of [bad, broken, good]) await heard(socket);
    bad.write('bug');
    await once(bad, 'close');
    expect(bugs).toEqual([new Error('a bug')]);
    broken.resetAndDestroy();
    await until(() => echoes.filter(({ calls }) => calls.includes('closed')).length === 2);
    good.write('still here');
    expect(await heard(good)).toBe('still here\n');
    good.destroy();
  });

  test('ends everything when it closes', async () => {
    const listener = await listening();
    const sockets = [connect(listener.port), connect(listener.port)];
    for (const socket of sockets) await heard(socket);
    const closed = sockets.map((socket) => once(socket, 'close'));
    await listener.close();
    await Promise.all(closed);
    expect(echoes.map(({ calls }) => calls)).toEqual([['closed'], ['closed']]);
    await expect(once(connect(listener.port, listener.host), 'connect')).rejects.toMatchObject({
      code: 'ECONNREFUSED',
    });
  });

  test('says when the port is taken', async () => {
    const { port } = await listening();
    await expect(listen(start, { port })).rejects.toMatchObject({ code: 'serve/address' });
  });
});

describe('a conversation on a stream', () => {
  test('delivers its last words, then hangs up on a client that does not', async () => {
    const [client, server] = duplexPair();
    converse(server, start, { lingerMs: 1 });
    client.write('quit');
    const words: string[] = [];
    client.on('data', (chunk: Uint8Array) => words.push(Buffer.from(chunk).toString()));
    await once(server, 'close');
    expect(words.join('')).toBe('welcome\nquit\n');
    expect(echoes[0]?.calls.at(-1)).toBe('closed');
  });

  test('is told when there is room again; a pause holds back what comes', async () => {
    const [client, server] = duplexPair(100);
    converse(server, start);
    const { transport, calls } = echoes[0] as Echo;
    for (let sent = 0; transport.send(Buffer.alloc(50)); sent++) expect(sent).toBeLessThan(10);
    transport.pause();
    client.write('later');
    client.resume();
    await until(() => calls.includes('drained'));
    const words = heard(client);
    transport.resume();
    expect(await words).toBe('later\n');
    // It learns of that by the error of its next write, which is nothing to anybody else.
    client.destroy();
    await until(() => calls.at(-1) === 'closed');
  });

  test('after a close nothing is sent and nothing is heard', async () => {
    const [client, server] = duplexPair();
    converse(server, start, { lingerMs: 1 });
    const { transport } = echoes[0] as Echo;
    transport.close();
    expect(transport.send(Buffer.from('more'))).toBe(true);
    client.end('bug');
    client.resume();
    await once(server, 'close');
    expect(bugs).toEqual([]);
  });
});

async function heard(stream: Duplex): Promise<string> {
  const [chunk] = (await once(stream, 'data')) as [Uint8Array];
  return Buffer.from(chunk).toString();
}

async function until(condition: () => boolean): Promise<void> {
  for (let turn = 0; !condition(); turn++) {
    if (turn === 10_000) throw new Error('waited in vain');
    await new Promise((resolve) => setImmediate(resolve));
  }
}
