// SPDX-License-Identifier: Apache-2.0
// figures: medians, and tables for a terminal.

export function median(values) {
  const sorted = [...values].sort((a, b) => a - b)
  const middle = sorted.length >> 1
  return sorted.length % 2 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2
}

/** An object of numbers, each the median of the same key in `rounds`. */
export function medians(rounds) {
  return Object.fromEntries(Object.keys(rounds[0]).map(key => [key, median(rounds.map(round => round[key]))]))
}

/** Rows of texts under their headings; all but the first column stand to the right. */
export function table(rows) {
  const widths = rows[0].map((_, column) => Math.max(...rows.map(row => row[column].length)))
  const line = row => row.map((text, column) => (column ? text.padStart(widths[column]) : text.padEnd(widths[column]))).join('  ')
  const [head, ...rest] = rows.map(line)
  return [head, '-'.repeat(head.length), ...rest].join('\n')
}
