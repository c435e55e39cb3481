/** How a client shows that it knows the password, as a dialogue: yields what the server asks for, is given the client's answers. */
import { timingSafeEqual } from 'node:crypto';
import { SqlError } from '../../sql/model/index.ts';
import {
  type AuthenticationRequest,
  decodePassword,
  decodeSaslInitialResponse,
  md5Password,
  scramChallenge,
  scramMechanism,
  scramVerifier,
} from '../../wire/postgres/index.ts';

export interface PasswordOptions {
  /** Of every user. Without one there is no check. */
  readonly password?: string;
  /** Default `scram-sha-256`. */
  readonly passwordMethod?: 'scram-sha-256' | 'md5' | 'cleartext';
  /** For nonces, salts and keys. */
  readonly randomBytes: (count: number) => Uint8Array;
}

/** @returns what is to be sent before AuthenticationOk, if anything. @throws SqlError 28P01; WireError the answer makes no sense */
export type Authentication = Generator<AuthenticationRequest, AuthenticationRequest | null, Uint8Array>;

export function* authentication(user: string, options: PasswordOptions): Authentication {
  const { password, passwordMethod = 'scram-sha-256', randomBytes } = options;
  if (password === undefined) return null;
  switch (passwordMethod) {
    case 'cleartext':
      if (!isSame(decodePassword(yield { method: 'cleartext' }), password)) throw wrongPassword(user);
      return null;
    case 'md5': {
      const salt = randomBytes(4);
      const answer = decodePassword(yield { method: 'md5', salt });
      if (!isSame(answer, md5Password(password, user, salt))) throw wrongPassword(user);
      return null;
    }
    case 'scram-sha-256':
      return yield* scram(user, password, randomBytes);
  }
}

function* scram(user: string, password: string, randomBytes: (count: number) => Uint8Array): Authentication {
  const first = decodeSaslInitialResponse(yield { method: 'sasl', mechanisms: [scramMechanism] });
  if (first.mechanism !== scramMechanism)
    throw new SqlError('08P01', 'client selected an invalid SASL authentication mechanism');
  // A client may wait to be asked once more.
  const clientFirst = first.data ?? (yield { method: 'sasl-continue', data: new Uint8Array(0) });
  const nonce = Buffer.from(randomBytes(18)).toString('base64');
  const challenge = scramChallenge(clientFirst, scramVerifier(password, randomBytes(16)), nonce);
  const serverFinal = challenge.verify(yield { method: 'sasl-continue', data: challenge.data });
  if (serverFinal === null) throw wrongPassword(user);
  return { method: 'sasl-final', data: serverFinal };
}

function wrongPassword(user: string): SqlError {
  return new SqlError('28P01', `password authentication failed for user "${user}"`);
}

function isSame(given: string, expected: string): boolean {
  const [a, b] = [Buffer.from(given), Buffer.from(expected)];
  return a.length === b.length && timingSafeEqual(a, b);
}
