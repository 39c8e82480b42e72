// The changes: which files were viewed, and comments that go to the agent of a task, at once or as a review.
import { $, current, onShown, send, toast, told } from './app.js'
import { comments, quoting } from './comments.js'

const LONGEST_HINT = 2_900
const LONGEST = 19_000
const root = () => document.querySelector('[data-comments^="changes:"]')
const routeOf = (task) => root().querySelector('[data-route="' + CSS.escape(task) + '"]') ?? root().querySelector('[data-route=""]')

const drafts = comments('changes', (list) => {
  const review = root().querySelector('[data-review]')
  if (review) review.hidden = !list.length
}, (one) => routeOf(one.task)?.dataset.to ?? '')

async function deliver(list) {
  const byTask = Map.groupBy(list, (one) => (routeOf(one.task)?.dataset.name ? one.task : ''))
  for (const [task, group] of byTask) {
    const name = task && routeOf(task)?.dataset.name
    const text = quoting(name ? group : group.map((one) => ({ ...one, where: one.task ? one.task + ', ' + one.where : one.where })))
    if (text.length > (name ? LONGEST_HINT : LONGEST)) {
      toast($('texts').dataset.message)
      continue
    }
    const answer = await told(await (name ? send('/press', { button: name, text }) : send('/say', { session: root().dataset.session, text })))
    if (answer?.taken) drafts.remove(group.map((one) => one.id))
  }
}

// Viewed marks belong to what was seen: a file that changes is not viewed any more.
const key = () => 'viewed:' + root().dataset.session
const viewed = () => new Set(JSON.parse(sessionStorage[key()] ?? '[]'))
function toggle(file) {
  const marks = viewed()
  if (!marks.delete(file.dataset.file)) marks.add(file.dataset.file)
  sessionStorage[key()] = JSON.stringify([...marks])
  mark()
}
function mark() {
  if (!root()) return
  const marks = viewed()
  const files = [...root().querySelectorAll('[data-file]')]
  for (const file of files) {
    const seen = marks.has(file.dataset.file)
    file.classList.toggle('viewed', seen)
    file.querySelector('[data-viewed]').setAttribute('aria-pressed', seen)
    root().querySelector('[data-to-file="' + file.id.slice('file-'.length) + '"]').classList.toggle('viewed', seen)
  }
  const count = files.filter((one) => marks.has(one.dataset.file)).length
  $('viewed-count').textContent = count ? count + '/' + files.length : ''
}
onShown(mark)

document.addEventListener('click', (e) => {
  if (!root()?.contains(e.target)) return
  const at = (selector) => e.target.closest(selector)
  let found
  if ((found = at('[data-viewed]'))) toggle(found.closest('[data-file]'))
  else if ((found = at('[data-to-file]'))) {
    const file = $('file-' + found.dataset.toFile)
    file.scrollIntoView({ block: 'start' })
    file.querySelector('[data-viewed]').focus({ preventScroll: true })
  } else if (at('[data-review]')) deliver(drafts.written())
  else if ((found = at('[data-note=send]'))) {
    const one = drafts.find(found.closest('.note').id.slice('note-'.length))
    if (one.text.trim()) deliver([one])
  }
})
document.addEventListener('keydown', (e) => {
  if (e.key !== 'x' || !root() || e.ctrlKey || e.metaKey || e.altKey || e.isComposing || localStorage.keys === 'off') return
  if (e.target.closest('input, textarea, select') || document.querySelector('dialog[open]')) return
  const file = (document.activeElement.closest('[data-file]') ?? $(current())?.closest('[data-file]')) || root().querySelector('[data-file]')
  if (file) toggle(file)
})
