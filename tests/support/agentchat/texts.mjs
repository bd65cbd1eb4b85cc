// SPDX-License-Identifier: Apache-2.0
// texts: what GET /v1/texts answers (contract section 3.6), in words of this stand-in's own, with a
// field that no reader knows; and the text that a text-taking dialect carries (section 3.5).

export const runtimes = ['generic', 'claude-code', 'codex', 'hermes', 'openclaw']

function spelled(runtime, tool) {
  if (runtime === 'generic') return tool
  return runtime === 'openclaw' ? `agentchat__${tool}` : `mcp__agentchat__${tool}`
}

/** `edition` tells one answer from a later one. */
export function textsFor(runtime, edition = 1) {
  const inbox = spelled(runtime, 'agentchat_inbox')
  const restart = runtime === 'openclaw' ? ' After a gateway restart, leave the interrupted turn alone.' : ''
  return {
    version: '1',
    manual: { url: 'https://agentchat.me/skill.md', version: `2.3.${edition}`, sha256: '0'.repeat(64) },
    wake_instruction: `Edition ${edition}: call ${inbox} and settle each card.${restart}`,
    invite_prompt: `Edition ${edition}: call ${inbox} and answer the invite.${restart}`,
    identity_line: 'You are @example-relay on AgentChat.',
    identity_line_template: 'You are <handle> on AgentChat.',
    gate_call_preamble: 'Decide for each card.',
    gate_call_answer_format: 'Answer in JSON.',
    reply_turn_template: `Open <conversation_id>.${restart}`,
    a_later_field: { kept: true }
  }
}

function instruction(reason, texts) {
  if (reason === 'invite') return texts.invite_prompt
  return reason === 'unanswered' ? 'Items on your tray are still waiting.' : texts.wake_instruction
}

/** The text of a wake: the tools by their bare names, whatever the dialect. */
export function textOf(wake, attempt, prompt, texts = textsFor('generic')) {
  const trailer = `(AgentChat wake cycle ${wake.delivery_id}, attempt ${attempt}. This text carries no message content.)`
  return `${wake.summary}\n\n${prompt || instruction(wake.reason, texts)}\n\n${trailer}`
}
