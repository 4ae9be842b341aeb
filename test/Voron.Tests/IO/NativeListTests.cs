using Voron.IO;

namespace Voron.Tests.IO;

[Quick]
public sealed class NativeListTests
{
    [Theory]
    [InlineData(1)]
    [InlineData(2)]
    [InlineData(3)]
    public void It_behaves_as_a_list_does(int seed)
    {
        var random = new Random(seed);
        using var heap = new NativeHeap();
        var list = new NativeList<long>(heap);
        var model = new List<long>();
        for (var step = 0; step < SuiteShare.Rounds(20_000); step++)
        {
            // Repeatedly grows to some thousands of items and shrinks to none.
            var grows = step / 2_000 % 2 == 0;
            for (var i = random.Next(8); i > 0; i--)
            {
                if (grows || random.Next(3) == 0)
                {
                    list.Add(step * 10L + i);
                    model.Add(step * 10L + i);
                }
                else if (model.Count > 0)
                {
                    list.RemoveFirst().Should().Be(model[0]);
                    model.RemoveAt(0);
                }
            }

            if (random.Next(200) == 0)
            {
                var count = random.Next(model.Count + 1);
                list.Truncate(count);
                model.RemoveRange(count, model.Count - count);
            }

            if (random.Next(1000) == 0)
            {
                list.Clear();
                model.Clear();
            }

            list.Count.Should().Be(model.Count);
            if (model.Count > 0)
                list[model.Count - 1].Should().Be(model[^1]);
            if (step % 50 == 0)
                list.AsSpan().SequenceEqual(model.ToArray()).Should().BeTrue($"seed {seed}, step {step}");
        }
    }
}
