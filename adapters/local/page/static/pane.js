// Panes: paints what the stream says, as rows of text; on wide screens with xterm.js, which is loaded when one opens.
// Nothing that is typed here goes anywhere.
import { $, onShown, toast } from './app.js'

const WIDE = matchMedia('(min-width: 1000px)')
const BASE = ['#5c6773', '#ff8f86', '#6fdd9e', '#f2c066', '#82b4ff', '#c6a6ff', '#6fd3e0', '#d4dae3', '#8b95a5', '#ffaaa3', '#8ff0b7', '#ffd88a', '#a6caff', '#dcc7ff', '#97e6f0', '#ffffff']
const BEHIND = ['#05080c', '#421a1c', '#12351f', '#3d2f0d', '#14305c', '#33214f', '#0f3a41', '#39424e', '#1e2530', '#5a2427', '#194a2b', '#544112', '#1b417c', '#462d6c', '#155059', '#4b5664']

// The usual palette: 16 colours of the theme, a cube of 216, 24 greys. As a sheet made here it needs no style attribute.
const level = (n) => (n ? 55 + 40 * n : 0)
const cube = (n) => [level(Math.floor(n / 36)), level(Math.floor(n / 6) % 6), level(n % 6)]
const rgb = (n) => (n < 232 ? cube(n - 16) : Array(3).fill(8 + 10 * (n - 232)))
const palette = new CSSStyleSheet()
palette.replaceSync(
  Array.from({ length: 256 }, (_, n) => {
    if (n < 16) return `.screen .b${n} { background: ${BEHIND[n]} } .screen .f${n} { color: ${BASE[n]} }`
    const [r, g, b] = rgb(n)
    const bright = 0.299 * r + 0.587 * g + 0.114 * b
    // dark letters on bright ground, and no letters that are as dark as the ground
    const text = bright > 140 ? '#05080c' : '#eef1f5'
    const front = bright < 70 ? BASE[8] : `rgb(${r} ${g} ${b})`
    return `.screen .b${n} { background: rgb(${r} ${g} ${b}); color: ${text} } .screen .f${n} { color: ${front} }`
  }).join('\n'),
)
document.adoptedStyleSheets.push(palette)

let last = null
document.addEventListener('gwt:pane', (e) => {
  last = e.detail
  paint()
})

function paint() {
  const box = last && document.querySelector('#view [data-pane="' + CSS.escape(last.pane) + '"]')
  if (!box) return
  box.dataset.columns = last.columns
  rows(box.querySelector('pre'))
  if (terminal?.box === box) write()
}
function rows(pre) {
  const atEnd = pre.scrollTop + pre.clientHeight >= pre.scrollHeight - 4
  const made = document.createDocumentFragment()
  for (const row of last.rows) {
    for (const [text, style] of row) {
      if (style) {
        const part = document.createElement('i')
        part.className = style
        part.textContent = text
        made.append(part)
      } else made.append(text)
    }
    made.append('\n')
  }
  pre.replaceChildren(made)
  if (atEnd) pre.scrollTop = pre.scrollHeight
}

// A whole window, and copying.
let whole = false
document.addEventListener('click', async (e) => {
  const at = (selector) => e.target.closest(selector)
  const copy = at('[data-copy]')
  if (at('[data-whole]')) {
    whole = !whole
    dress()
  } else if (copy) {
    await navigator.clipboard.writeText(copy.dataset.copy)
    toast(copy.dataset.copied)
  }
})
document.addEventListener('keydown', (e) => {
  const leaves = e.key === 'Escape' && whole && !document.querySelector('dialog[open]')
  const turns = e.key === 'f' && e.target.closest('.screen') && !e.ctrlKey && !e.metaKey && !e.altKey
  if (!leaves && !turns) return
  whole = !whole
  dress()
})

// xterm.js, where there is room for it.
let terminal = null
let loading = null
let broken = false
async function load() {
  // xterm writes `<style>` elements of its own, and style attributes where it raises a contrast: the policy wants the
  // nonce on the former, and the latter set as properties.
  const nonce = document.querySelector('script[nonce]').nonce
  const create = document.createElement.bind(document)
  document.createElement = (name, options) => {
    const made = create(name, options)
    if (name === 'style') made.nonce = nonce
    if (name === 'span') made.setAttribute = (key, value) => (key === 'style' ? (made.style.cssText = value) : Element.prototype.setAttribute.call(made, key, value))
    return made
  }
  const sheet = create('link')
  sheet.rel = 'stylesheet'
  sheet.href = '/static/vendor/xterm.css'
  document.head.append(sheet)
  return (await import('/static/vendor/xterm.mjs')).Terminal
}
async function open(box) {
  let Terminal
  try {
    Terminal = await (loading ??= load())
  } catch {
    broken = true
    return
  }
  if (!box.isConnected || terminal?.box === box || !WIDE.matches) return
  shut()
  const host = document.createElement('div')
  host.className = 'term'
  // the rows below are what is read aloud
  host.setAttribute('aria-hidden', 'true')
  box.prepend(host)
  const made = new Terminal({
    convertEol: true,
    cursorInactiveStyle: 'none',
    disableStdin: true,
    fontFamily: getComputedStyle(box.querySelector('pre')).fontFamily,
    fontSize: 12.5,
    lineHeight: 1.3,
    linkHandler: { activate() {}, hover() {}, leave() {} },
    minimumContrastRatio: 4.5,
    scrollback: 0,
    theme: { background: '#0d1117', foreground: '#d4dae3', cursor: '#0d1117', extendedAnsi: [], ...named() },
  })
  made.open(host)
  made.textarea?.setAttribute('tabindex', '-1')
  made.attachCustomKeyEventHandler(() => false)
  terminal = { box, host, made }
  write()
}
function named() {
  const names = ['black', 'red', 'green', 'yellow', 'blue', 'magenta', 'cyan', 'white']
  const bright = names.map((one) => 'bright' + one[0].toUpperCase() + one.slice(1))
  return Object.fromEntries([...names, ...bright].map((name, n) => [name, BASE[n]]))
}
function shut() {
  if (!terminal) return
  terminal.made.dispose()
  terminal.host.remove()
  terminal = null
}
// Written from the rows that are shown: only colours the bot has named reach it.
const CODES = { a: (n) => n, f: (n) => '38;5;' + n, b: (n) => '48;5;' + n }
function write() {
  const { made, box } = terminal
  const lines = ['']
  for (const part of box.querySelector('pre').childNodes) {
    const codes = (part.className ?? '').split(' ').filter((one) => one && one !== 'a7').map((one) => CODES[one[0]](Number(one.slice(1))))
    const [first, ...more] = part.textContent.split('\n').map((text) => (codes.length && text ? `\x1b[${codes.join(';')}m${text}\x1b[m` : text))
    lines[lines.length - 1] += first
    lines.push(...more)
  }
  while (lines.length && !lines.at(-1)) lines.pop()
  const lengths = lines.map((line) => line.replace(/\x1b\[[0-9;]*m/g, '').length)
  const columns = Math.min(Number(box.dataset.columns) || 80, Math.max(80, ...lengths))
  const height = Math.max(24, lengths.reduce((sum, one) => sum + Math.max(1, Math.ceil(one / columns)), 0))
  if (made.cols !== columns || made.rows !== height) made.resize(columns, height)
  made.write('\x1b[H' + lines.map((line) => line + '\x1b[K').join('\n') + '\x1b[J')
}

function dress() {
  const pane = $('pane')
  pane?.classList.toggle('whole', whole)
  pane?.querySelector('[data-whole]')?.setAttribute('aria-pressed', whole)
  if (!pane) whole = false
  if (terminal && !terminal.box.isConnected) shut()
  const box = pane?.classList.contains('large') && pane.querySelector('[data-columns]')
  if (box && WIDE.matches && !broken && terminal?.box !== box) open(box)
}
WIDE.addEventListener('change', () => (WIDE.matches ? dress() : shut()))
onShown(dress)
