using Microsoft.Extensions.Configuration;
using Microsoft.Extensions.Diagnostics.HealthChecks;
using Microsoft.Extensions.Options;
using Voron;
using Voron.Extensions.Hosting;
using Voron.Tables;

namespace Microsoft.Extensions.DependencyInjection;

/// <summary>Adds Voron environments to the services of an application.</summary>
public static class VoronServiceCollectionExtensions
{
    /// <summary>
    /// Adds an environment as the singleton <see cref="StorageEnvironment"/>. Its <see cref="VoronSettings"/> and <see cref="StorageOptions"/>
    /// come from section <c>Voron</c> of the configuration.
    /// </summary>
    /// <remarks>
    /// <para>The environment is opened when the host starts, before other hosted services start, or earlier if a service needs it. It is closed when
    /// the host or the service provider is disposed, after all hosted services have stopped. If it cannot be opened, the host does not start.</para>
    /// <para>Its health check is called <c>voron</c>, with the tag <c>voron</c>. Further calls add their delegates to those of earlier calls.</para>
    /// </remarks>
    /// <example>
    /// <code>
    /// builder.Services.AddVoron(settings => settings.Directory = "data", options => options.Trees.Add("users"));
    /// </code>
    /// </example>
    /// <param name="services">The services.</param>
    /// <param name="configureSettings">Changes the settings after the configuration has been read; null for no change.</param>
    /// <param name="configureOptions">Changes the options of the engine after the configuration has been read; null for no change.</param>
    public static IServiceCollection AddVoron(
        this IServiceCollection services, Action<VoronSettings>? configureSettings = null, Action<StorageOptions>? configureOptions = null)
    {
        ArgumentNullException.ThrowIfNull(services);
        if (EnvironmentNames.Of(services).TryAdd(Options.Options.DefaultName))
        {
            AddParts(services, Options.Options.DefaultName);
            services.AddSingleton(provider => provider.GetRequiredKeyedService<HostedEnvironment>(Options.Options.DefaultName).Open());
        }

        return Configure(services, Options.Options.DefaultName, configureSettings, configureOptions);
    }

    /// <summary>
    /// Adds an environment as a keyed singleton <see cref="StorageEnvironment"/>. Its <see cref="VoronSettings"/> and <see cref="StorageOptions"/>
    /// come from section <c>Voron:name</c> of the configuration. They inherit nothing from section <c>Voron</c>.
    /// </summary>
    /// <remarks>
    /// Otherwise like <see cref="AddVoron"/>. The health check is called <c>voron_name</c>.
    /// </remarks>
    /// <example>
    /// <code>
    /// builder.Services.AddKeyedVoron("orders", settings => settings.Directory = "data/orders");
    /// builder.Services.AddSingleton&lt;Orders&gt;();
    ///
    /// class Orders([FromKeyedServices("orders")] StorageEnvironment environment);
    /// </code>
    /// </example>
    /// <param name="services">The services.</param>
    /// <param name="name">The key of the service, and the name of the section: without a colon, and not the name of a setting.</param>
    /// <param name="configureSettings">Changes the settings after the configuration has been read; null for no change.</param>
    /// <param name="configureOptions">Changes the options of the engine after the configuration has been read; null for no change.</param>
    /// <exception cref="ArgumentException">The name cannot be that of a section, or differs from another one only in case.</exception>
    public static IServiceCollection AddKeyedVoron(
        this IServiceCollection services,
        string name,
        Action<VoronSettings>? configureSettings = null,
        Action<StorageOptions>? configureOptions = null)
    {
        ArgumentNullException.ThrowIfNull(services);
        EnvironmentNames.Check(services, name);
        if (EnvironmentNames.Of(services).TryAdd(name))
        {
            AddParts(services, name);
            services.AddKeyedSingleton(name, (provider, _) => provider.GetRequiredKeyedService<HostedEnvironment>(name).Open());
        }

        return Configure(services, name, configureSettings, configureOptions);
    }

    /// <summary>
    /// Brings a table of an environment to its definition when the host starts: makes it, builds its indexes, raises its version
    /// (<see cref="TableEvolution.EvolveAsync"/>).
    /// </summary>
    /// <remarks>
    /// <para>This happens after the environment has been opened, and before other hosted services start. If it fails, the host does not start, and
    /// the program that ran previously can still use the table. To build the indexes of a large table while the service runs, call
    /// <see cref="TableEvolution.EvolveAsync"/> in a background service instead.</para>
    /// <para>The health check of the environment is degraded until the table is ready, and reports its progress. In an environment that is open for
    /// reading only, the table stays as it is.</para>
    /// </remarks>
    /// <example>
    /// <code>
    /// builder.Services.AddVoron(settings => settings.Directory = "data").AddVoronTable(notes);
    /// </code>
    /// </example>
    /// <typeparam name="TKey">The type of the primary keys.</typeparam>
    /// <typeparam name="TRow">The type of the rows.</typeparam>
    /// <param name="services">The services, to which the environment is added before or after.</param>
    /// <param name="definition">The definition.</param>
    /// <param name="environmentName">The name of a keyed environment; null for the one without a name.</param>
    /// <exception cref="ArgumentNullException">The services or the definition is null.</exception>
    public static IServiceCollection AddVoronTable<TKey, TRow>(
        this IServiceCollection services, TableDefinition<TKey, TRow> definition, string? environmentName = null)
    {
        ArgumentNullException.ThrowIfNull(services);
        ArgumentNullException.ThrowIfNull(definition);
        var name = environmentName ?? Options.Options.DefaultName;
        EnvironmentNames.Of(services).Want(name);
        return services.AddHostedService<EnvironmentOpener>().AddKeyedSingleton(name, new HostedTable(
            definition.Name, (environment, progress, stop) => environment.EvolveAsync(definition, progress, options: null, stop)));
    }

    private static void AddParts(IServiceCollection services, string name)
    {
        var section = EnvironmentNames.SectionOf(name);
        services.AddOptions<VoronSettings>(name)
            .Configure<IServiceProvider>((settings, provider) => provider.GetService<IConfiguration>()?.GetSection(section).Bind(settings))
            .ValidateOnStart();
        services.AddOptions<StorageOptions>(name)
            .Configure<IServiceProvider>((options, provider) => provider.GetService<IConfiguration>()?.GetSection(section).Bind(options))
            .ValidateOnStart();
        var validation = new SettingsValidation(name);
        services.AddSingleton<IValidateOptions<VoronSettings>>(validation);
        services.AddSingleton<IValidateOptions<StorageOptions>>(validation);
        services.AddSingleton<IValidateOptions<VoronSettings>>(
            provider => new SectionValidation(name, provider.GetService<IConfiguration>()));

        services.AddKeyedSingleton<IEnvironmentSource>(name, (provider, _) => new ConfiguredEnvironment(name, provider));
        services.AddKeyedSingleton(name, (provider, _) => new HostedEnvironment(provider.GetRequiredKeyedService<IEnvironmentSource>(name)));
        services.AddHostedService<EnvironmentOpener>();
        AddHealthCheck(services, name);
    }

    private static void AddHealthCheck(IServiceCollection services, string name)
    {
        services.AddHealthChecks();
        services.AddKeyedSingleton(name, (provider, _) => new EnvironmentHealthCheck(
            provider.GetRequiredKeyedService<HostedEnvironment>(name),
            [.. provider.GetKeyedServices<HostedTable>(name)],
            () => provider.GetRequiredService<IOptionsMonitor<VoronSettings>>().Get(name).HealthCheck,
            provider.GetService<TimeProvider>() ?? TimeProvider.System));
        services.AddOptions<HealthCheckServiceOptions>().Configure<IOptionsMonitor<VoronSettings>>((health, settings) =>
        {
            var known = ValidOrDefault(settings, name);
            if (known.DisableHealthChecks)
                return;
            health.Registrations.Add(new HealthCheckRegistration(
                EnvironmentNames.HealthCheckOf(name),
                provider => provider.GetRequiredKeyedService<EnvironmentHealthCheck>(name),
                failureStatus: null,
                tags: ["voron", .. known.HealthCheck.Tags]));
        });
    }

    // The host makes its services before it validates options. A failure here would hide those that the validation reports together.
    private static VoronSettings ValidOrDefault(IOptionsMonitor<VoronSettings> settings, string name)
    {
        try
        {
            return settings.Get(name);
        }
        catch (OptionsValidationException)
        {
            return new VoronSettings();
        }
    }

    private static IServiceCollection Configure(
        IServiceCollection services, string name, Action<VoronSettings>? configureSettings, Action<StorageOptions>? configureOptions)
    {
        if (configureSettings != null)
            services.Configure(name, configureSettings);
        if (configureOptions != null)
            services.Configure(name, configureOptions);
        return services;
    }
}
