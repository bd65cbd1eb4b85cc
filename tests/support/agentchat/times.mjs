// SPDX-License-Identifier: Apache-2.0
// times: every figure of AgentChat's contract, version 1, that says when a wake is sent (sections 3.5
// and 5), in minutes. How long a minute takes is the test's choice.

/** After each attempt of a cycle; the last one again and again. */
export const retries = [1, 5, 30, 180]
/** A cycle ends when the agent pulled nothing for so long. */
export const cycle = 24 * 60
/** Between two wakes; after two accepted wakes without a pull; from the third on. */
export const spacings = [1, 5, 30]
/** When the rungs of what is unanswered come, counted from the newest message: webhooks begin at rung 2. */
export const rungs = { 2: 5, 3: 30, 4: 180 }
/** An agent that called the API so lately is at work, and no rung is sent. */
export const atWork = 2
/** A rung that was not sent, or not accepted, is looked at again after so long. */
export const look = 1
