/**
 * The server's side of PostgreSQL's protocol 3, without sockets: bytes in, bytes out. Messages are worked on strictly in the order in which
 * they came; what comes meanwhile waits as bytes, and when that is too much the transport is asked to pause.
 */
import { timingSafeEqual } from 'node:crypto';
import type { SqlServer, SqlSession } from '../../sql/index.ts';
import { SqlError } from '../../sql/model/index.ts';
import { WireError } from '../../wire/index.ts';
import {
  type BackendMessage,
  decodeFrontend,
  decodeStartup,
  type Frame,
  type FrameLimits,
  FrameSplitter,
  type StartupPacket,
} from '../../wire/postgres/index.ts';
import type { Conversation, StartConversation, Transport } from '../conversation.ts';
import { type Authentication, authentication, type PasswordOptions } from './authentication.ts';
import { type CommandOptions, PostgresCommands } from './commands.ts';
import { errorFields } from './error.ts';
import { PostgresOutput } from './output.ts';
import { latestMinor, readStartup, reportedSettings, type StartupOptions } from './startup.ts';

export interface PostgresOptions extends PasswordOptions, FrameLimits, CommandOptions {
  readonly server: SqlServer;
  /** Bytes that may wait while a message is worked on before the client is made to pause; default 1 MiB. */
  readonly waitingBytesMax?: number;
}

/** Conversations with the clients of one server. They share the secrets by which a client cancels what it runs on another connection. */
export function postgresConversations(options: PostgresOptions): StartConversation {
  const secrets = new Map<number, Uint8Array>();
  return (transport, admission) => new PostgresConversation(transport, admission, options, secrets);
}

/** Where the conversation is; each state takes the next packet or frame. */
type Stage =
  | { readonly kind: 'startup' }
  | { readonly kind: 'authentication'; readonly startup: StartupOptions; readonly dialogue: Authentication }
  | { readonly kind: 'commands'; readonly session: SqlSession; readonly commands: PostgresCommands };

const executeType = 'E'.charCodeAt(0);

class PostgresConversation implements Conversation {
  readonly #transport: Transport;
  readonly #admission: 'welcome' | 'full';
  readonly #options: PostgresOptions;
  readonly #secrets: Map<number, Uint8Array>;
  readonly #splitter: FrameSplitter;
  readonly #output: PostgresOutput;
  #stage: Stage = { kind: 'startup' };
  #held: Frame | undefined;
  #isWorking = false;
  #isPaused = false;
  #hasEnded = false;
  /** Why the connection ends as soon as what is under way allows it. */
  #termination: unknown = null;
  #isClosed = false;

  constructor(
    transport: Transport,
    admission: 'welcome' | 'full',
    options: PostgresOptions,
    secrets: Map<number, Uint8Array>,
  ) {
    this.#transport = transport;
    this.#admission = admission;
    this.#options = options;
    this.#secrets = secrets;
    this.#splitter = new FrameSplitter(options);
    this.#output = new PostgresOutput(transport);
  }

  receive(chunk: Uint8Array): void {
    if (this.#isClosed) return;
    this.#splitter.push(chunk);
    if (this.#isWorking) this.#pauseOrResume();
    else void this.#work();
  }

  ended(): void {
    this.#hasEnded = true;
    if (!this.#isWorking) void this.#work();
  }

  drained(): void {
    this.#output.drained();
  }

  closed(): void {
    this.#isClosed = true;
    this.#output.closed();
    this.#forget();
  }

  /** Works until a message is incomplete. Never rejects. */
  async #work(): Promise<void> {
    this.#isWorking = true;
    try {
      while (!this.#isClosed) {
        const step = this.#step();
        // Between "no whole message" and the end of the work nothing may happen: what comes then would wait for ever.
        if (!(step instanceof Promise ? await step : step)) break;
        this.#pauseOrResume();
        if (this.#termination !== null) break;
      }
      if (this.#termination !== null) this.#failFatally(this.#termination);
    } catch (error) {
      this.#failFatally(error);
    }
    this.#isWorking = false;
    this.#pauseOrResume();
    if (this.#hasEnded) this.#close();
  }

  /** @returns was there a whole message? */
  #step(): Promise<boolean> | boolean {
    const stage = this.#stage;
    if (stage.kind === 'startup') {
      const body = this.#takeStartup();
      return body !== undefined && this.#startUp(decodeStartup(body));
    }
    const frame = stage.kind === 'authentication' ? this.#splitter.takeLoginFrame() : this.#takeFrame();
    if (frame === undefined) return false;
    if (stage.kind === 'authentication') return this.#authenticate(stage.startup, stage.dialogue, frame);
    return this.#command(stage.commands, frame);
  }

  /** As PostgreSQL, which closes the connection without a word when the first packet has an impossible length: a Terminate, another protocol. */
  #takeStartup(): Buffer | undefined {
    try {
      return this.#splitter.takeStartup();
    } catch (error) {
      if (!(error instanceof WireError)) throw error;
      this.#close();
      return undefined;
    }
  }

  /**
   * An Execute waits until the message after it begins, which tells whether it commits by itself. The client cannot know: it is not answered
   * before its Flush or Sync. So what happens does not depend on how the network cuts the stream.
   */
  #takeFrame(): Frame | undefined {
    const frame = this.#held ?? this.#splitter.takeFrame();
    const isHeld = frame?.type === executeType && this.#splitter.nextType === undefined && !this.#hasEnded;
    this.#held = isHeld ? frame : undefined;
    return isHeld ? undefined : frame;
  }

  #pauseOrResume(): void {
    const isTooMuch = this.#isWorking && this.#splitter.bufferedBytes > (this.#options.waitingBytesMax ?? 1 << 20);
    if (isTooMuch === this.#isPaused || this.#isClosed) return;
    this.#isPaused = isTooMuch;
    if (isTooMuch) this.#transport.pause();
    else this.#transport.resume();
  }

  // ---- start-up

  async #startUp(packet: StartupPacket): Promise<boolean> {
    switch (packet.kind) {
      case 'ssl-request':
      case 'gssenc-request':
        this.#output.writer.uint8('N'.charCodeAt(0));
        await this.#output.flush();
        return true;
      case 'cancel-request':
        this.#cancel(packet.processId, packet.secret);
        this.#close();
        return false;
      case 'startup':
        return this.#introduce(packet);
    }
  }

  async #introduce(packet: Extract<StartupPacket, { kind: 'startup' }>): Promise<boolean> {
    if (this.#admission === 'full') throw new SqlError('53300', 'sorry, too many clients already');
    const startup = readStartup(packet);
    const { unknownOptions } = startup;
    if (packet.minor > latestMinor || unknownOptions.length > 0) {
      // The version with its major number, as PostgreSQL sends it, whatever the manual says of "minor".
      const version = (3 << 16) | startup.minor;
      this.#output.message({ kind: 'negotiate-protocol-version', version, options: unknownOptions });
    }
    return this.#converse(startup, authentication(startup.user, this.#options), undefined);
  }

  #authenticate(startup: StartupOptions, dialogue: Authentication, frame: Frame): Promise<boolean> {
    const message = decodeFrontend(frame);
    if (message.kind === 'authentication-response') return this.#converse(startup, dialogue, message.data);
    throw new WireError('malformed', `expected an answer to the password request, got a message ${message.kind}`);
  }

  /** One turn of the dialogue. @param answer `undefined` at its beginning */
  async #converse(startup: StartupOptions, dialogue: Authentication, answer: Uint8Array | undefined): Promise<boolean> {
    const turn = answer === undefined ? dialogue.next() : dialogue.next(answer);
    if (turn.value !== null) this.#output.message({ kind: 'authentication', request: turn.value });
    if (turn.done === true) await this.#open(startup);
    else {
      this.#stage = { kind: 'authentication', startup, dialogue };
      await this.#output.flush();
    }
    return true;
  }

  async #open(startup: StartupOptions): Promise<void> {
    const reported = new Map<string, string>();
    let report = (name: string, value: string): void => void reported.set(name, value);
    const { server, randomBytes } = this.#options;
    const { user, database, settings } = startup;
    const onParameter = (name: string, value: string): void => report(name, value);
    const onTerminate = (error: unknown): void => this.#terminate(error);
    const session = server.connect({ user, database, parameters: settings, onParameter, onTerminate });
    const commands = new PostgresCommands(session, this.#output, this.#options, () => this.#splitter.nextType);
    this.#stage = { kind: 'commands', session, commands };
    this.#transport.loggedIn();
    report = (name, value) => commands.settingChanged(name, value);
    const secret = randomBytes(startup.minor >= 2 ? 32 : 4);
    this.#secrets.set(session.id, secret);
    this.#say({ kind: 'authentication', request: { method: 'ok' } });
    for (const [name, value] of reportedSettings(startup, reported))
      this.#say({ kind: 'parameter-status', name, value });
    this.#say({ kind: 'backend-key-data', processId: session.id, secret });
    await commands.ready();
  }

  /** Nothing is answered, whatever the secret is worth. */
  #cancel(processId: number, secret: Uint8Array): void {
    const known = this.#secrets.get(processId);
    if (known === undefined || known.length !== secret.length || !timingSafeEqual(known, secret)) return;
    this.#options.server.session(processId)?.cancel();
  }

  // ---- commands and the end

  #command(commands: PostgresCommands, frame: Frame): Promise<boolean> | boolean {
    const staysOpen = commands.answer(frame);
    return staysOpen instanceof Promise ? staysOpen.then((each) => this.#commanded(each)) : this.#commanded(staysOpen);
  }

  #commanded(staysOpen: boolean): boolean {
    if (!staysOpen) this.#close();
    return staysOpen;
  }

  #say(message: BackendMessage): void {
    this.#output.message(message);
  }

  #failFatally(error: unknown): void {
    if (!(error instanceof SqlError || error instanceof WireError)) this.#options.onBug?.(error);
    this.#say({ kind: 'error-response', fields: errorFields(error, 'FATAL') });
    this.#close();
  }

  /** Between two statements. What waits here already is not worked on any more. */
  #terminate(error: unknown): void {
    this.#termination = error;
    if (!this.#isWorking) this.#failFatally(error);
  }

  #close(): void {
    if (this.#isClosed) return;
    this.#output.flushNow();
    this.#isClosed = true;
    this.#output.closed();
    this.#forget();
    this.#transport.close();
  }

  /** The session ends: its transaction is rolled back, its locks go. */
  #forget(): void {
    if (this.#stage.kind !== 'commands') return;
    const { session } = this.#stage;
    this.#stage = { kind: 'startup' };
    this.#secrets.delete(session.id);
    session.close();
  }
}
