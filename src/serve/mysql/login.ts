/** Who is there: the connection phase of a MySQL client, and what COM_CHANGE_USER does again. */
import type { SqlError } from '../../sql/model/index.ts';
import {
  type AuthPlugin,
  capabilities,
  encodeAuthSwitch,
  fastAuthSuccess,
  has,
  isAuthPlugin,
  isAuthResponse,
} from '../../wire/mysql/index.ts';
import { protocolError } from './error.ts';
import type { PacketInput, PacketOutput } from './packets.ts';

export const defaultPlugin: AuthPlugin = 'mysql_native_password';

/**
 * What this server can do. Not among them: TLS, compression, LOAD DATA LOCAL, query attributes. No change of a session is ever tracked, but
 * where the server knows of it mysql2 reads the words of an OK packet as they are sent.
 */
export const serverCapabilities =
  capabilities.longPassword |
  capabilities.foundRows |
  capabilities.longFlag |
  capabilities.connectWithDb |
  capabilities.odbc |
  capabilities.ignoreSpace |
  capabilities.protocol41 |
  capabilities.interactive |
  capabilities.ignoreSigpipe |
  capabilities.transactions |
  capabilities.secureConnection |
  capabilities.multiStatements |
  capabilities.multiResults |
  capabilities.psMultiResults |
  capabilities.pluginAuth |
  capabilities.connectAttributes |
  capabilities.pluginAuthLengthEncoded |
  capabilities.sessionTrack |
  capabilities.deprecateEof;

/** What a client says of itself, at the beginning or in COM_CHANGE_USER. */
export interface Claim {
  readonly user: string;
  readonly authPlugin: string;
  readonly authResponse: Uint8Array;
}

export interface LoginOptions {
  readonly input: PacketInput;
  readonly output: PacketOutput;
  readonly flags: number;
  readonly salt: Uint8Array;
  /** Without one there is no check. */
  readonly password: string | undefined;
}

/**
 * Verifies the claim, by another plug-in when the client's is not known here. Afterwards the client waits for an OK or an error.
 * @returns is it still there? @throws SqlError 28000, WireError
 */
export async function authenticate(claim: Claim, options: LoginOptions): Promise<boolean> {
  const { input, output, salt, flags } = options;
  const plugin = claim.authPlugin === '' ? defaultPlugin : claim.authPlugin;
  if (isAuthPlugin(plugin)) {
    if (!isAccepted(plugin, claim.authResponse, options)) throw accessDenied(claim);
    // The plug-in of an empty password does not wait for this word.
    if (plugin === 'caching_sha2_password' && claim.authResponse.length > 0) output.packet(fastAuthSuccess);
    return true;
  }
  if (!has(flags, capabilities.pluginAuth)) throw accessDenied(claim);
  output.packet(encodeAuthSwitch({ authPlugin: defaultPlugin, data: salt }));
  output.flush();
  const answer = await input.expect(output.sequence);
  if (answer === undefined) return false;
  output.sequence = input.nextSequence;
  if (!isAccepted(defaultPlugin, answer.payload, options)) throw accessDenied(claim);
  return true;
}

function isAccepted(plugin: AuthPlugin, response: Uint8Array, { password, salt }: LoginOptions): boolean {
  return password === undefined || isAuthResponse(plugin, password, salt, withoutEmptyMark(response));
}

/** An empty password is nothing, or a single zero byte. */
function withoutEmptyMark(response: Uint8Array): Uint8Array {
  return response.length === 1 && response[0] === 0 ? new Uint8Array() : response;
}

function accessDenied({ user, authResponse }: Claim): SqlError {
  const using = authResponse.length > 0 ? 'YES' : 'NO';
  return protocolError(1045, `Access denied for user '${user}' (using password: ${using})`);
}
