# Writes each example down as it ends. RSpec loads it beside what people read.
require 'json'
require 'rspec/core'

class GwtReport
  RSpec::Core::Formatters.register self, :start, :example_passed, :example_failed, :example_pending, :stop

  def initialize(_output)
    name = "rspec-#{Process.pid}-#{rand(1 << 32).to_s(16)}.jsonl"
    # not for the programs that the examples start
    @file = File.open(File.join(ENV.delete('GWT_TEST_REPORT'), name), 'a')
    @file.sync = true
  end

  def start(_) write(begin: 'rspec') end
  def example_passed(told) ended(told.example, 'passed') end
  def example_failed(told) ended(told.example, 'failed') end
  def example_pending(told) ended(told.example, 'skipped') end
  def stop(_) write(end: 'rspec') end

  private

  def ended(example, how)
    file = File.expand_path(example.metadata[:file_path])
    write(test: "#{file} > #{example.full_description}", ended: how)
  end

  def write(told) @file.puts(JSON.generate(told)) end
end
