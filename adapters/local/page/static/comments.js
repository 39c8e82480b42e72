// Comments on lines: kept in this tab until they are sent, and drawn into the places that the bot leaves empty for them.
// A screen with comments has an element [data-comments] with the key of its drafts and [data-scopes]: what can be
// commented on as it is now. Drafts on anything else have become old and are shown at the top.
import { $, current, onShown } from './app.js'

const LONGEST_QUOTE = 240

export function comments(kind, drawn = () => {}, leads = () => '') {
  const root = () => document.querySelector('[data-comments^="' + kind + ':"]')
  const key = () => 'comments:' + root().dataset.comments
  const all = () => (root() ? JSON.parse(sessionStorage[key()] ?? '[]') : [])
  const find = (id) => all().find((one) => one.id === id)
  const written = () => all().filter((one) => one.text.trim())

  function store(list) {
    sessionStorage[key()] = JSON.stringify(list)
  }
  function update(id, changed) {
    store(all().map((one) => (one.id === id ? { ...one, ...changed } : one)))
    draw()
  }
  function remove(ids) {
    store(all().filter((one) => !ids.includes(one.id)))
    draw()
  }

  // Drawing. A note that stands is left alone: somebody may be writing in it.
  function draw() {
    if (!root()) return
    const list = all()
    const scopes = root().dataset.scopes.split(' ')
    for (const note of root().querySelectorAll('.note')) if (!list.some((one) => 'note-' + one.id === note.id)) note.remove()
    for (const one of list) {
      const old = !scopes.includes(one.scope)
      const holder = $(old ? 'n-old' : 'n-' + one.place)
      if (!holder) {
        $('note-' + one.id)?.remove() // its document or file is not shown now
        continue
      }
      const note = $('note-' + one.id) ?? made(one)
      if (note.parentElement !== holder) holder.append(note)
      fill(note, one, old)
      const folded = one.open && holder.closest('details:not([open])')
      if (folded) folded.open = true
    }
    const sent = written()
    for (const badge of root().querySelectorAll('[data-drafts]')) {
      const of = badge.dataset.drafts
      const count = sent.filter((one) => one.place.startsWith(of)).length
      badge.textContent = count || ''
      badge.hidden = !count
    }
    drawn(sent)
  }
  function made(one) {
    const note = document.createElement('div')
    note.className = 'note'
    note.id = 'note-' + one.id
    return note
  }
  function fill(note, one, old) {
    const how = one.open ? 'open' : 'kept'
    if (note.dataset.how !== how) {
      note.dataset.how = how
      note.replaceChildren(...$('note-' + how).cloneNode(true).children)
      if (one.open) note.querySelector('textarea').value = one.text
    }
    note.querySelector('[data-f=where]').textContent = one.where + (old ? ' · ' + one.version : '')
    note.querySelector('[data-f=to]').textContent ||= leads(one)
    const quote = note.querySelector('[data-f=quote]')
    quote.hidden = !old
    quote.textContent = one.quote
    if (!one.open) note.querySelector('[data-f=text]').textContent = one.text
  }

  // Writing.
  function begin(place) {
    const line = $('l-' + place)
    if (!line) return
    const started = all().find((one) => one.place === place && one.open)
    if (started) return write(started.id)
    const id = Date.now().toString(36) + Math.random().toString(36).slice(2, 7)
    const text = line.querySelector('p, code')?.textContent.trim() ?? ''
    const quote = text.length > LONGEST_QUOTE ? text.slice(0, LONGEST_QUOTE) + ' …' : text
    const { scope, version, prefix } = line.closest('[data-scope]').dataset
    const at = { place, scope, version, quote, where: prefix + line.dataset.where, task: line.closest('[data-task]')?.dataset.task ?? '' }
    store([...all(), { id, ...at, text: '', kept: '', open: true }])
    draw()
    write(id)
  }
  const write = (id) => $('note-' + id)?.querySelector('textarea')?.focus()
  function back(one) {
    const line = $('l-' + one.place)
    ;(line?.querySelector('.say') ?? $('main')).focus()
  }
  function keep(id) {
    const one = find(id)
    if (!one.text.trim()) return cancel(id)
    update(id, { open: false, kept: one.text })
    back(one)
  }
  function cancel(id) {
    const one = find(id)
    if (one.kept) update(id, { open: false, text: one.kept })
    else remove([id])
    back(one)
  }

  const noteOf = (e) => (root()?.contains(e.target) ? e.target.closest('.note')?.id.slice('note-'.length) : null)
  document.addEventListener('click', (e) => {
    if (!root()) return
    const place = e.target.closest('[data-comment]')?.dataset.comment
    if (place) return begin(place)
    if (e.target.closest('[data-comment-here]')) {
      const here = $(current())?.querySelector('[data-comment]') ?? root().querySelector('[data-comment]')
      if (here) begin(here.dataset.comment)
      return
    }
    const id = noteOf(e)
    const does = id && e.target.closest('[data-note]')?.dataset.note
    if (does === 'edit') {
      update(id, { open: true })
      write(id)
    } else if (does === 'delete') remove([id])
    else if (does === 'cancel') cancel(id)
  })
  document.addEventListener('submit', (e) => {
    const id = noteOf(e)
    if (id) keep(id)
  })
  document.addEventListener('input', (e) => {
    const id = noteOf(e)
    if (id) update(id, { text: e.target.value })
  })
  document.addEventListener('keydown', (e) => {
    if (!root()?.contains(e.target)) return
    if (e.key === 'Escape') {
      const id = noteOf(e)
      if (id && !e.target.value) cancel(id)
      else if (id) back(find(id))
    } else if ((e.key === 'ArrowDown' || e.key === 'ArrowUp') && e.target.matches('.say')) {
      const among = [...root().querySelectorAll('.say')].filter((one) => one.checkVisibility())
      among[among.indexOf(e.target) + (e.key === 'ArrowDown' ? 1 : -1)]?.focus()
      e.preventDefault()
    }
  })
  onShown(draw)
  return { written, remove, find }
}

// What is sent: each comment below the line that it is about.
export function quoting(list) {
  const sorted = [...list].sort((a, b) => a.where.localeCompare(b.where, 'en', { numeric: true }))
  return sorted.map((one) => one.where + (one.quote ? ':\n> ' + one.quote : ':') + '\n' + one.text.trim()).join('\n\n')
}
