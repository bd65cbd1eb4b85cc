// SPDX-License-Identifier: Apache-2.0
// rows: what one exchange of the response contract is expected to give. A row of the tables beside
// this file has one of these, or several in turn; contract.test.mjs holds the program to them.
//
//   status, said   the answer's status, and its `status` (2xx) or `code`
//   reason         counted as refused before a route was known, under this reason
//   retryAfter     [least, most] seconds; a row without it must have none
//   closed         the connection is closed after it
//   sent           requests that reach the target because of it
//   id             what the same wake gets when it is sent again, genuine and alone

const success = (said, more) => ({ status: 200, said, sent: 0, ...more })
const error = (status, said, more) => ({ status, said, sent: 0, id: 'free', ...more })
const later = (said, more) => error(503, said, { retryAfter: [1, 3600], ...more })

export const relayed = success('relayed', { sent: 1, id: 'duplicate' })
export const duplicate = success('duplicate', { id: 'duplicate' })
export const tested = success('tested')
export const inFlight = later('in_flight')
export const held = later('held')
export const resting = later('resting')
export const paced = later('paced')
export const overloaded = later('overloaded')
export const draining = later('draining', { closed: true })
export const storeUnavailable = later('store_unavailable')
export const refused = error(502, 'target_refused', { sent: 1 })
export const gone = error(502, 'target_gone', { sent: 1 })
export const unavailable = later('target_unavailable', { sent: 1 })
export const timeout = error(504, 'target_timeout', { sent: 1 })
export const unauthorized = error(401, 'unauthorized')
export const wrongHandle = error(403, 'wrong_handle')
export const invalid = error(400, 'invalid_wake')
export const wrongVersion = error(400, 'unsupported_version')
export const wrongMethod = error(405, 'method_not_allowed', { allow: 'POST' })
export const wrongEncoding = error(415, 'unsupported_encoding', { closed: true })
export const tooLarge = error(413, 'too_large', { closed: true })
export const noLength = error(411, 'length_required', { closed: true })
export const unexpected = error(417, 'expectation_failed', { closed: true })
export const manyHeaders = error(431, 'header_too_large', { closed: true })
export const nowhere = error(404, 'unknown_route', { reason: 'unknown_route' })
/** Refused by us or by the HTTP library, whichever version it is: an error or no answer at all, the
 * connection closed, counted once. */
export const malformed = { malformed: true, closed: true, sent: 0, id: 'free' }
/** What never ends is told so when its time is over. */
export const slowHead = error(408, 'request_timeout', { closed: true, timedOut: 'head' })
export const slowBody = error(408, 'request_timeout', { closed: true, timedOut: 'body' })

/** What the versions of the HTTP library see differently, and either is right. */
export const either = (...expects) => ({ either: expects })
