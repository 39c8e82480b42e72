// The page's script: opens the door, shows screens, hears the stream, sends what is pressed and said.
// Everything it shows is made by the bot; nothing of the bot's data stays here but the token of this tab.
export const $ = (id) => document.getElementById(id)
const code = new URLSearchParams(location.hash.slice(1)).get('code')
// Out of the address before anything is sent: htmx tells the server which address the page has.
const wanted = new URLSearchParams(location.hash.slice(1)).get('go')
if (code) history.replaceState(null, '', '#/' + (wanted ?? ''))

const words = $('state-words')
// A bot that is started again has a new address: after a while that is the likely reason.
const GONE_AFTER = 8000
let waiting = 0
const say = (how) => {
  if (how === 'lost' && words.dataset.how === 'gone') return
  words.dataset.how = how
  words.textContent = words.dataset[how]
  $('state').className = 'tag ' + { live: 'done', lost: 'need', shut: 'fail', gone: 'fail' }[how]
  if (how !== 'lost') clearTimeout(waiting)
  if (how === 'live' || how === 'shut') waiting = 0
  if (how === 'lost') waiting ||= setTimeout(() => say('gone'), GONE_AFTER)
}

export async function send(path, body) {
  const headers = { 'Content-Type': 'application/json' }
  if (token) headers.Authorization = 'Bearer ' + token
  try {
    return await fetch(path, { method: 'POST', headers, body: JSON.stringify(body) })
  } catch {
    toast($('texts').dataset.silent)
    return null
  }
}

let token = sessionStorage.token
if (code) {
  const answer = await send('/open', { code })
  if (answer?.ok) sessionStorage.token = token = (await answer.json()).token
}

// Screens. The state of the bot has a number; an answer that is older than what is shown is dropped.
let shown = { path: null, number: -1 }
let asking = false
let again = false
export const path = () => location.hash.replace(/^#\/?/, '')

document.addEventListener('htmx:config:request', (e) => {
  e.detail.ctx.request.headers.Authorization = 'Bearer ' + token
})
document.addEventListener('htmx:before:swap', (e) => {
  const ctx = e.detail.ctx
  const number = Number(ctx.response?.headers?.get('X-State') ?? NaN)
  if (Number.isNaN(number)) return
  if (ctx.request.action.split('?')[0] !== '/screen/' + path().split('?')[0] || number < shown.number) {
    e.preventDefault()
    return
  }
  shown.number = number
})
document.addEventListener('htmx:after:swap', () => dress())
document.addEventListener('htmx:response:error', (e) => {
  const status = e.detail.ctx.response.status
  if (status === 401) say('shut')
  else e.detail.ctx.response.raw.text().then((text) => problem(text), () => problem(''))
})

function problem(text) {
  const told = document.createElement('p')
  told.className = 'empty'
  told.textContent = text || $('texts').dataset.failed
  $('main').replaceChildren(told)
}

export async function show() {
  if (!token) return
  if (asking) {
    again = true
    return
  }
  asking = true
  try {
    do {
      again = false
      const screen = (one) => one?.split('?')[0]
      // What follows the `?` changes only a part of the screen: its place and focus stay.
      const fresh = screen(shown.path) !== screen(path())
      if (shown.path !== path()) shown = { path: path(), number: -1 }
      if (fresh) {
        $('main').focus({ preventScroll: true }) // now, not later: what is pressed meanwhile must not be undone
        scrollTo(0, 0)
      }
      const address = '/screen/' + path() + (path().includes('?') ? '&' : '?') + 'language=' + document.documentElement.lang
      await htmx.ajax('GET', address, { target: '#main', swap: fresh ? 'innerHTML' : 'innerMorph' })
      if (fresh) document.querySelector('nav.tabs [aria-current]')?.scrollIntoView({ block: 'nearest', inline: 'center' })
    } while (again || shown.path !== path())
  } catch {
    // the bot is gone: the stream says so, and when it is back, it asks for the screen again
  } finally {
    asking = false
  }
}

// What the server cannot do: times in the reader's zone, the title, what was pressed before.
const zone = new Intl.DateTimeFormat(undefined, { dateStyle: 'medium', timeStyle: 'short' })
const clock = new Intl.DateTimeFormat(undefined, { timeStyle: 'short' })
const since = new Intl.RelativeTimeFormat(document.documentElement.lang, { style: 'short', numeric: 'auto' })
function away(seconds, sign) {
  for (const [unit, size] of [['day', 86400], ['hour', 3600], ['minute', 60]]) {
    if (seconds >= size) return since.format(sign * Math.floor(seconds / size), unit)
  }
  return since.format(0, 'second')
}
const ago = (at) => away(Math.max(0, (Date.now() - at) / 1000), -1)
const left = (at) => away(Math.max(0, (at - Date.now()) / 1000), 1)
function times() {
  for (const one of document.querySelectorAll('time[datetime]')) {
    const at = new Date(one.dateTime)
    const told = one.dataset.style === 'ago' ? ago(at) : one.dataset.style === 'left' ? left(at) : one.dataset.style === 'clock' ? clock.format(at) : zone.format(at)
    if (one.textContent !== told) one.textContent = told
    one.title = zone.format(at)
  }
}
// What single screens add whenever something was drawn: drafts, marks, graphs.
const dressing = []
export function onShown(dressed) {
  dressing.push(dressed)
  if ($('view')) dressed()
}
function dress() {
  const view = $('view')
  if (view) document.title = view.dataset.title
  times()
  const column = sessionStorage.column
  if (column && $(column)) pick(column)
  select(current())
  $('tabneed').hidden = !$('tabneed').textContent.trim()
  const pane = view?.querySelector('[data-pane]')?.dataset.pane ?? ''
  if (pane !== streaming) connect(pane)
  for (const dressed of dressing) dressed()
}
setInterval(times, 20_000)

// The stream: one a tab. It says what has changed, and the page asks for its screen again.
let streaming = null
function connect(pane) {
  streaming = pane
  const old = $('stream')
  const made = document.createElement('div')
  made.id = 'stream'
  made.setAttribute('hx-nonce', nonce)
  made.setAttribute('hx-sse:connect', '/stream' + (pane ? '?pane=' + encodeURIComponent(pane) : ''))
  made.addEventListener('changed', (e) => {
    const { n, topics } = JSON.parse(e.detail.data)
    if (n >= shown.number || topics.includes('*')) show() // what is open beside a screen counts, too: no choice by session
  })
  made.addEventListener('pane', (e) => document.dispatchEvent(new CustomEvent('gwt:pane', { detail: JSON.parse(e.detail.data) })))
  old.replaceWith(made)
  htmx.process(made)
}
// A stream that another has replaced says when it ends, too.
const present = (e) => (e.detail.connection?.url ?? e.detail.url) === $('stream').getAttribute('hx-sse:connect')
document.addEventListener('htmx:sse:after:connection', (e) => present(e) && say('live'))
document.addEventListener('htmx:sse:error', (e) => present(e) && say(e.detail.status === 401 ? 'shut' : 'lost'))
document.addEventListener('htmx:sse:close', (e) => present(e) && say('lost'))

// Pressing and saying.
export function ask(title, { text = false } = {}) {
  const box = $('ask')
  $('ask-title').textContent = title
  $('ask-text').hidden = !text
  $('ask-text').value = ''
  box.returnValue = ''
  box.showModal()
  ;(text ? $('ask-text') : $('ask-yes')).focus()
  return new Promise((done) => {
    box.onclose = () => done(box.returnValue === 'yes' ? (text ? $('ask-text').value.trim() : 'yes') : '')
  })
}
let fading
export function toast(text) {
  $('toast').textContent = text
  clearTimeout(fading)
  fading = setTimeout(() => ($('toast').textContent = ''), 8000)
}
export async function told(answer) {
  if (!answer) return null
  if (!answer.ok) {
    if (answer.status === 401) say('shut')
    toast(await answer.text())
    show()
    return null
  }
  const said = await answer.json()
  if (said.session && !path().startsWith('s/' + said.session)) location.hash = '#/s/' + said.session
  else show()
  return said
}
export async function press(button) {
  let text = ''
  if (button.dataset.asks && !(text = await ask(button.dataset.asks, { text: true }))) return
  if (button.dataset.confirm && !(await ask(button.dataset.confirm))) return
  button.disabled = true
  await told(await send('/press', { button: button.dataset.press, text }))
  button.disabled = false
}
async function answer(form) {
  const answers = {}
  for (const one of new FormData(form)) {
    const [name, value] = one
    if (name.startsWith('own-')) {
      if (value.trim()) answers[name.slice(4)] = value.trim()
    } else answers[name] ??= value
  }
  const button = document.querySelector('[data-send="' + CSS.escape(form.id) + '"]')
  button.disabled = true
  await told(await send('/press', { button: form.dataset.answers, answers }))
  button.disabled = false
}
async function talk(form) {
  const box = form.querySelector('textarea')
  const text = box.value.trim()
  if (!text) return
  if (await told(await send('/say', { text, session: form.dataset.say })) && box.value.trim() === text) box.value = ''
}
async function request(form) {
  const files = []
  for (const file of form.querySelector('input[type=file]')?.files ?? []) files.push({ name: file.name, text: await file.text() })
  let text = form.querySelector('textarea').value.trim()
  if (!text) return
  if (form.querySelector('[name=dry]')?.checked) text = 'spec ' + text
  const repository = form.querySelector('[name=repository]')?.value ?? ''
  if (await told(await send('/say', { text, repository, files }))) form.reset()
}

document.addEventListener('click', (e) => {
  const at = (selector) => e.target.closest(selector)
  let found
  if ((found = at('[data-press]'))) press(found)
  else if ((found = at('[data-send]'))) answer($(found.dataset.send))
  else if ((found = at('[data-close]'))) send('/close', { answer: found.dataset.close }).then(show)
  else if ((found = at('[data-quick]'))) send('/say', { text: found.dataset.quick, session: found.dataset.session }).then(told)
  else if ((found = at('[data-order]'))) send('/say', { text: found.dataset.order }).then(told)
  else if ((found = at('[data-column]'))) pick(found.dataset.column)
  else if (at('[data-theme-toggle]')) theme()
  else if (at('[data-find]')) find()
  else if (at('[data-print]')) print()
  else if (at('[data-skip]')) {
    e.preventDefault()
    $('main').focus()
  }
})
// On paper everything is open.
addEventListener('beforeprint', () => document.querySelectorAll('#view details').forEach((one) => (one.open = true)))
document.addEventListener('change', (e) => {
  if (e.target.closest('.filters')) e.target.form.requestSubmit()
})
document.addEventListener('submit', (e) => {
  const form = e.target
  if (form.method === 'dialog') return
  e.preventDefault()
  if (form.dataset.say !== undefined) talk(form)
  else if (form.dataset.request !== undefined) request(form)
  else if (form.dataset.query) location.hash = '#/' + form.dataset.query + '?' + new URLSearchParams([...new FormData(form)].filter(([, value]) => value))
})

function pick(column) {
  sessionStorage.column = column
  for (const one of document.querySelectorAll('.board .col')) one.classList.toggle('shown', one.id === column)
  for (const one of document.querySelectorAll('[data-column]')) one.setAttribute('aria-pressed', one.dataset.column === column)
}
function theme(to) {
  const dark = matchMedia('(prefers-color-scheme: dark)').matches
  const now = document.documentElement.dataset.theme ?? (dark ? 'dark' : 'light')
  document.documentElement.dataset.theme = localStorage.theme = to ?? (now === 'dark' ? 'light' : 'dark')
}
if (localStorage.theme) theme(localStorage.theme)

// Keys.
const items = () => [...document.querySelectorAll('#view [data-go], #view [data-item]')].filter((one) => one.checkVisibility())
export const current = () => document.querySelector('#view .on')?.id ?? selected
let selected = ''
function select(id) {
  selected = id
  for (const one of [...items(), ...document.querySelectorAll('#view [data-change]')]) one.classList.toggle('on', one.id === id)
}
function move(step, among = items()) {
  if (!among.length) return
  let at = among.findIndex((one) => one.id === selected)
  if (at < 0) {
    // What is selected is none of these: the way leads on from where it stands.
    const after = $(selected) ? among.findIndex((one) => $(selected).compareDocumentPosition(one) & Node.DOCUMENT_POSITION_FOLLOWING) : 0
    at = (after < 0 ? among.length : after) - (step > 0 ? 1 : 0)
  }
  const next = among[Math.min(among.length - 1, Math.max(0, at + step))]
  select(next.id)
  next.scrollIntoView({ block: 'nearest' })
  ;(next.querySelector('a, button') ?? next).focus({ preventScroll: true })
}
let gone = 0
const places = { b: '#/', i: '#/inbox', t: '#/intents', r: '#/branches', h: '#/history', d: '#/doctor' }
document.addEventListener('keydown', (e) => {
  // a pane is no place to type, but whoever tries must not press buttons by it
  const field = e.target.closest('input, textarea, select, [contenteditable], .screen')
  if ((e.ctrlKey || e.metaKey) && e.key === 'Enter' && field?.form) {
    e.preventDefault()
    field.form.requestSubmit()
    return
  }
  if ((e.ctrlKey || e.metaKey) && e.key.toLowerCase() === 'k') {
    e.preventDefault()
    find()
    return
  }
  if (field || e.isComposing || e.ctrlKey || e.metaKey || e.altKey || localStorage.keys === 'off') return
  if (document.querySelector('dialog[open]')) return
  if (Date.now() - gone < 1500 && places[e.key]) {
    gone = 0
    location.hash = places[e.key]
    return
  }
  const pages = document.querySelectorAll('#view [data-key="' + CSS.escape(e.key) + '"]')
  if (pages.length) {
    e.preventDefault()
    pages[0].focus()
    if (pages[0].dataset.at !== 'focus') pages[0].click()
    return
  }
  switch (e.key) {
    case 'g':
      gone = Date.now()
      break
    case 'Enter':
      if (!e.target.closest('a, button, summary, input')) $(selected)?.querySelector('a')?.click()
      break
    case 'j':
      move(1)
      break
    case 'k':
      move(-1)
      break
    case 'n':
    case 'p':
      move(e.key === 'n' ? 1 : -1, [...document.querySelectorAll('#view .card.need, #view [data-change]')].filter((one) => one.checkVisibility()))
      break
    case 'a':
      document.querySelector('#view .ask .btn.primary')?.focus()
      break
    case 'c':
      document.querySelector('#view .composer textarea')?.focus()
      break
    case '/':
      e.preventDefault()
      find()
      break
    case '?':
      $('keys-on').checked = true
      $('help').showModal()
      break
    default:
      if (/^[1-9]$/.test(e.key)) document.querySelectorAll('#view .ask .acts .btn')[e.key - 1]?.focus()
  }
})
$('keys-on').addEventListener('change', (e) => (localStorage.keys = e.target.checked ? 'on' : 'off'))

function find() {
  const box = $('find')
  const all = [...document.querySelectorAll('#rail a')].map((one) => [one.textContent.trim(), one.getAttribute('href')])
  const list = () => {
    const typed = $('find-text').value.trim().toLowerCase()
    const links = all.filter(([name]) => name.toLowerCase().includes(typed)).slice(0, 12)
    $('find-list').replaceChildren(...links.map(([name, href]) => {
      const row = document.createElement('li')
      const link = document.createElement('a')
      link.href = href
      link.textContent = name
      link.onclick = () => box.close()
      row.append(link)
      return row
    }))
  }
  $('find-text').value = ''
  $('find-text').oninput = list
  box.querySelector('form').onsubmit = (e) => {
    e.preventDefault()
    const first = $('find-list').querySelector('a')
    if (first) first.click()
  }
  list()
  box.showModal()
}

const nonce = document.querySelector('script[nonce]').nonce
addEventListener('hashchange', () => show())
if (document.readyState !== 'complete') await new Promise((ready) => addEventListener('load', ready))
await new Promise((ready) => setTimeout(ready))
if (token) {
  connect('')
  await show()
} else say('shut')
